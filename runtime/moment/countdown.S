/* countdown.S: the function that inserted code calls when the countdown of ticks has ended, and two
 * functions at which debuggers stop.
 *
 * The caller may be anywhere in a function, so every register and the flags are kept. */
#include "runtime/core/registers.inc"

        .text
        .balign 16
        .globl  quipu_end_countdown
        .hidden quipu_end_countdown
        .type   quipu_end_countdown, @function
quipu_end_countdown:
        .cfi_startproc
        _CET_ENDBR
        keep_registers
        movq    8(%rbp), %rdi        /* the return address */
        call    quipu_countdown_ended
        leaq    -80(%rbp), %rsp
        popq    %r11
        restore_registers
        .cfi_endproc
        .size   quipu_end_countdown, . - quipu_end_countdown
        .hidden quipu_countdown_ended

/* Debuggers put a breakpoint on the nop, so they need not step over an instruction. %rdi points to
 * the thread's cells of events. */
.macro  stop_here name
        .balign 16
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
        nop
        ret
        .cfi_endproc
        .size   \name, . - \name
.endm
        stop_here quipu_moment_thread
        stop_here quipu_moment_near

        .section .note.GNU-stack, "", @progbits
