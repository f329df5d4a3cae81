/* signal.S: quipu_signal_entry. Functions call it if the kernel has called them as signal handlers.
 *
 * Inserted code calls it if the third argument is the address directly above the return address:
 * there the kernel puts the interrupted state. Another caller may do the same: libffi's closures
 * get their arguments in an array there. So this code saves all registers that may contain an
 * argument, a static chain or the number of vector registers. The runtime does not change vector
 * and x87 registers. Counts that are saved for such a caller are never requested, since its
 * argument is no signal's context. */
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
