/* debugger.h: the registers as a debugger numbers them, by a description that it is given. */
#ifndef QUIPU_X86_DEBUGGER_H
#define QUIPU_X86_DEBUGGER_H

#include "util/buffer.h"
#include "x86/registers.h"

enum {
    DEBUGGER_REGISTER_MAX = 32, /* bytes of one register */
    DEBUGGER_ADDRESS = 16,      /* number of %rip, */
    DEBUGGER_STACK = 7,         /* %rsp */
    DEBUGGER_FRAME = 6          /* and %rbp */
};

/* Appends the description of this machine's registers, in gdb's XML. */
void describe_registers(struct buffer *xml);

/* Sets BYTES to register NUMBER of REGISTERS, as the debugger numbers them, and returns its size.
 * 0: there is no such register. */
size_t debugger_register(const struct registers *registers, size_t number,
                         uint8_t bytes[DEBUGGER_REGISTER_MAX]);

/* Whether register NUMBER is in REGISTERS->general. */
bool is_general_debugger_register(size_t number);

/* A debugger is not shown what depends on how a thread came to its place: the number of its last
 * system call, and the trap flag. */
void hide_way(struct user_regs_struct *general);

/* Sets register NUMBER of REGISTERS to SIZE BYTES. Returns false if it cannot be set, or has
 * another size. */
bool set_debugger_register(struct registers *registers, size_t number, const uint8_t *bytes,
                           size_t size);

#endif
