/* handler.S: saves the vector and x87 registers, too, around a handler of the program's own, or a
 * function of the C library, which may change them.
 *
 * Their size is determined once: cpuid takes thousands of cycles in a virtual machine. */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

        .text
        .balign 16
        .globl  quipu_call_handler
        .hidden quipu_call_handler
        .type   quipu_call_handler, @function
/* void quipu_call_handler(handler, first, argument): calls handler(first, argument). Saves the
 * vector and x87 registers: all that the kernel has enabled, or those that fxsave saves. */
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
        movl    state_size(%rip), %r12d
        testl   %r12d, %r12d
        jnz     1f
        call    ask
        movl    %eax, state_size(%rip)
        movl    %eax, %r12d
1:      decl    %r12d                /* bytes for xsave; 0: there is none */
        movl    $576, %eax           /* the area of fxsave, and xsave's header */
        cmpl    %eax, %r12d
        cmoval  %r12d, %eax
        subq    %rax, %rsp
        andq    $-64, %rsp
        testl   %r12d, %r12d
        jz      2f
        xorl    %eax, %eax           /* xsave requires a clear header */
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

/* Sets %eax to 1 plus the bytes that xsave needs, or to 1 if there is no xsave. Keeps %rsi, %r8 and
 * %r9. */
        .type   ask, @function
ask:
        .cfi_startproc
        movl    $1, %eax
        cpuid
        movl    $1, %eax
        btl     $27, %ecx            /* OSXSAVE */
        jnc     1f
        movl    $13, %eax
        xorl    %ecx, %ecx
        cpuid
        leal    1(%rbx), %eax
1:      ret
        .cfi_endproc
        .size   ask, . - ask

        .local  state_size
        .comm   state_size, 4, 4

        .section .note.GNU-stack, "", @progbits
