/* init.S: makes the fixed area before the module's constructors run, if inserted code needs it then
 * (src/pass/watch/init.c). */
#include "runtime/core/registers.inc"

        .text
        .balign 16
/* At the begin of a function, which others may call before that: keeps all but the flags. */
        .globl  quipu_watch_interposed
        .hidden quipu_watch_interposed
        .type   quipu_watch_interposed, @function
quipu_watch_interposed:
        .cfi_startproc
        _CET_ENDBR
        cmpb    $0, quipu_watch_ready(%rip)
        je      quipu_watch_init
        ret
        .cfi_endproc
        .size   quipu_watch_interposed, . - quipu_watch_interposed
        .hidden quipu_watch_ready

/* Keeps all registers, the vectors' first 16 bytes, and the flags. */
        .globl  quipu_watch_init
        .hidden quipu_watch_init
        .type   quipu_watch_init, @function
quipu_watch_init:
        .cfi_startproc
        _CET_ENDBR
        keep_registers
        subq    $512, %rsp
        fxsave64 (%rsp)
        xorl    %edi, %edi
        xorl    %esi, %esi
        xorl    %edx, %edx           /* the C library has set its own environment */
        call    quipu_watch_start
        fxrstor64 (%rsp)
        leaq    -80(%rbp), %rsp
        popq    %r11
        restore_registers
        .cfi_endproc
        .size   quipu_watch_init, . - quipu_watch_init
        .hidden quipu_watch_start

        .section .note.GNU-stack, "", @progbits
