/* attach.S: quipu_attach, the slow path of inserted code, and the thread's own quipu_bias.
 *
 * format/cells.h is the contract. The caller may be anywhere in a function: it has values in every
 * register, and the stack has any alignment. So this code saves all registers that C code may
 * change, and the flags (the direction flag may be set). The runtime does not change vector and x87
 * registers: it is compiled for general registers only, and calls no code outside of it.
 *
 * The linker takes this file from its archive only if code counts. Other code reads quipu_bias by
 * quipu_find_bias, so a module without counters has no thread-local storage. */
#include "runtime/core/registers.inc"

        .text
        .balign 16
        .globl  quipu_attach
        .hidden quipu_attach
        .type   quipu_attach, @function
quipu_attach:
        .cfi_startproc
        _CET_ENDBR
        keep_registers
        call    quipu_attach_thread
        leaq    -80(%rbp), %rsp
        popq    %r11                 /* cell + QUIPU_UNATTACHED; the top bits cancel out */
        btcq    $63, %r11
        addq    %rax, %r11
        restore_registers
        .cfi_endproc
        .size   quipu_attach, . - quipu_attach
        .hidden quipu_attach_thread

        .balign 16
        .globl  quipu_find_bias
        .hidden quipu_find_bias
        .type   quipu_find_bias, @function
/* uint64_t *quipu_find_bias(void) */
quipu_find_bias:
        .cfi_startproc
        _CET_ENDBR
        movq    quipu_bias@gottpoff(%rip), %rax
        addq    %fs:0, %rax
        ret
        .cfi_endproc
        .size   quipu_find_bias, . - quipu_find_bias

        .section .tdata, "awT", @progbits
        .balign 8
        .globl  quipu_bias
        .hidden quipu_bias
        .type   quipu_bias, @object
        .size   quipu_bias, 8
quipu_bias:
        .quad   1 << 63              /* QUIPU_UNATTACHED */

        .section .note.GNU-stack, "", @progbits
