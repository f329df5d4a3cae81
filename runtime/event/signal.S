/* signal.S: quipu_signal_entry, which functions call that the kernel has called as signal handlers.
 *
 * Inserted code calls it where the third argument is what stands right above the return address:
 * the interrupted state, as the kernel leaves it.  So may another caller: libffi's closures get
 * their arguments in an array there.  So all registers that can hold an argument, a static chain or
 * a number of vector registers are kept; vector and x87 registers are not touched by the runtime.
 * What is noted of such a caller nobody asks for: it is no signal's context. */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

        .text
        .balign 16
        .globl  quipu_signal_entry
        .hidden quipu_signal_entry
        .type   quipu_signal_entry, @function
quipu_signal_entry:
        .cfi_startproc
        _CET_ENDBR
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        pushq   %r8
        pushq   %r9
        pushq   %rax
        pushq   %r10
        pushq   %r11
        andq    $-16, %rsp
        movq    %rdx, %rdi
        call    quipu_note_signal
        leaq    -72(%rbp), %rsp
        popq    %r11
        popq    %r10
        popq    %rax
        popq    %r9
        popq    %r8
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        popq    %rbp
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size   quipu_signal_entry, . - quipu_signal_entry
        .hidden quipu_note_signal

        .section .note.GNU-stack, "", @progbits
