/* segment.S: %gs, through which executables count.
 *
 * The base of %gs is the thread's bias: `incq %gs:cell(%rip)` increments the thread's own cell
 * without a register or a load. A new thread inherits the base of the thread that made it. So code
 * that is entered from elsewhere first tests quipu_bias, and calls this file while it is
 * QUIPU_UNATTACHED. In a process without a data file the base is 0, as the kernel has set it, and
 * code counts in the static cells.
 *
 * The linker takes this file from its archive only if inserted code refers to it, which is in
 * executables. So one module of a process sets the base. The others count through a register.
 *
 * Invariant: once quipu_bias of a thread of the executable is set, its base of %gs has the same
 * value; or 0 if the kernel refuses to set the base (slot.c). */
#include <asm/prctl.h>
#include <asm/unistd.h>

#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

        .text
        .balign 16
        .globl  quipu_attach_segment
        .hidden quipu_attach_segment
        .type   quipu_attach_segment, @function
/* Like quipu_attach, but keeps every register. */
quipu_attach_segment:
        .cfi_startproc
        _CET_ENDBR
        pushq   %r11
        .cfi_def_cfa_offset 16
        .cfi_offset r11, -16
        call    quipu_attach
        popq    %r11
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   quipu_attach_segment, . - quipu_attach_segment
        .hidden quipu_attach

        .balign 16
        .globl  quipu_set_segment
        .hidden quipu_set_segment
        .type   quipu_set_segment, @function
/* long quipu_set_segment(uint64_t base) */
quipu_set_segment:
        .cfi_startproc
        _CET_ENDBR
        movq    %rdi, %rsi
        movl    $ARCH_SET_GS, %edi
        movl    $__NR_arch_prctl, %eax
        syscall
        ret
        .cfi_endproc
        .size   quipu_set_segment, . - quipu_set_segment

        .section .note.GNU-stack, "", @progbits
