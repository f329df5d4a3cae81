/* countdown.S: where inserted code comes when the countdown of ticks has ended, and two places for
 * debuggers to stop at.
 *
 * The caller is anywhere in a function: every register and the flags are kept, and around a handler
 * of the program's own also the vector and x87 registers. */
#include "registers.inc"

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

        .balign 16
        .globl  quipu_call_handler
        .hidden quipu_call_handler
        .type   quipu_call_handler, @function
/* void quipu_call_handler(handler, moment, argument): handler(moment, argument), with the vector
 * and x87 registers kept: all that the kernel has enabled, or what fxsave keeps. */
quipu_call_handler:
        .cfi_startproc
        _CET_ENDBR
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        pushq   %rbx
        .cfi_offset rbx, -24
        pushq   %r12
        .cfi_offset r12, -32
        movq    %rdi, %r8
        movq    %rdx, %r9
        movl    $1, %eax
        cpuid
        xorl    %r12d, %r12d         /* bytes for xsave; 0: there is none */
        btl     $27, %ecx            /* OSXSAVE */
        jnc     1f
        movl    $13, %eax
        xorl    %ecx, %ecx
        cpuid
        movl    %ebx, %r12d
1:      movl    $576, %eax           /* the area of fxsave, and xsave's header */
        cmpl    %eax, %r12d
        cmoval  %r12d, %eax
        subq    %rax, %rsp
        andq    $-64, %rsp
        testl   %r12d, %r12d
        jz      2f
        xorl    %eax, %eax           /* xsave wants its header clear */
        movq    %rax, 512(%rsp)
        movq    %rax, 520(%rsp)
        movq    %rax, 528(%rsp)
        movq    %rax, 536(%rsp)
        movq    %rax, 544(%rsp)
        movq    %rax, 552(%rsp)
        movq    %rax, 560(%rsp)
        movq    %rax, 568(%rsp)
        movl    $-1, %eax
        movl    $-1, %edx
        xsave64 (%rsp)
        jmp     3f
2:      fxsave64 (%rsp)
3:      movq    %rsi, %rdi
        movq    %r9, %rsi
        call    *%r8
        testl   %r12d, %r12d
        jz      4f
        movl    $-1, %eax
        movl    $-1, %edx
        xrstor64 (%rsp)
        jmp     5f
4:      fxrstor64 (%rsp)
5:      leaq    -16(%rbp), %rsp
        popq    %r12
        popq    %rbx
        popq    %rbp
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size   quipu_call_handler, . - quipu_call_handler

/* Debuggers put a breakpoint over the nop, which nobody need then step over.  %rdi is the thread's
 * cells of events. */
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
