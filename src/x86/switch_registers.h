/* switch_registers.h: which registers the kernel's events of context switches have.
 *
 * Source: Linux, arch/x86/include/uapi/asm/perf_regs.h; perf_event_open(2), PERF_SAMPLE_REGS_USER:
 * the registers of the mask, by rising number of their bits. */
#ifndef QUIPU_X86_SWITCH_REGISTERS_H
#define QUIPU_X86_SWITCH_REGISTERS_H

#include <asm/perf_regs.h>

enum {
    SWITCH_REGISTERS = 1 << PERF_REG_X86_IP | 1 << PERF_REG_X86_R11,
    SWITCH_ADDRESS = 0, /* index among them: the next instruction */
    SWITCH_CURSOR = 1,  /* %r11, in which inserted code of traces has its cursor */
    SWITCH_REGISTER_COUNT = 2,
};

#endif
