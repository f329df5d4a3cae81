/* attach.S: quipu_attach, the slow path of inserted code, and the thread's own quipu_bias.
 *
 * The contract stands in data/format.h, section 3.  The caller is anywhere in a function: it holds
 * values in every register, and the stack has any alignment.  So all registers that C code may
 * change are kept here, the flags too (the direction flag may be set); vector and x87 registers are
 * not touched by the runtime, which is compiled for general registers only and calls no one. */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

/* Pushes a register whose value the unwinder finds OFFSET bytes from the frame's address. */
.macro  keep register, offset
        pushq   %\register
        .cfi_offset \register, \offset
.endm

        .text
        .balign 16
        .globl  quipu_attach
        .hidden quipu_attach
        .type   quipu_attach, @function
quipu_attach:
        .cfi_startproc
        _CET_ENDBR
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        pushfq
        keep    rax, -32
        keep    rcx, -40
        keep    rdx, -48
        keep    rsi, -56
        keep    rdi, -64
        keep    r8, -72
        keep    r9, -80
        keep    r10, -88
        keep    r11, -96
        cld
        andq    $-16, %rsp
        call    quipu_attach_thread
        leaq    -80(%rbp), %rsp
        popq    %r11                 /* cell + QUIPU_UNATTACHED; two top bits cancel out */
        btcq    $63, %r11
        addq    %rax, %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rax
        popfq
        popq    %rbp
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size   quipu_attach, . - quipu_attach
        .hidden quipu_attach_thread

        .section .tdata, "awT", @progbits
        .balign 8
        .globl  quipu_bias
        .hidden quipu_bias
        .type   quipu_bias, @object
        .size   quipu_bias, 8
quipu_bias:
        .quad   1 << 63              /* QUIPU_UNATTACHED */

        .section .note.GNU-stack, "", @progbits
