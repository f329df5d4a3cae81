/* init.S: makes the fixed area before the module's constructors run, if inserted code needs it then
 * (src/pass/watch/init.c). All registers and flags are kept. */
#include "runtime/core/registers.inc"

        .text
        .balign 16
        .globl  quipu_watch_init
        .hidden quipu_watch_init
        .type   quipu_watch_init, @function
quipu_watch_init:
        .cfi_startproc
        _CET_ENDBR
        keep_registers
        xorl    %edi, %edi
        xorl    %esi, %esi
        xorl    %edx, %edx           /* the C library has set its own environment */
        call    quipu_watch_start
        leaq    -80(%rbp), %rsp
        popq    %r11
        restore_registers
        .cfi_endproc
        .size   quipu_watch_init, . - quipu_watch_init
        .hidden quipu_watch_start

        .section .note.GNU-stack, "", @progbits
