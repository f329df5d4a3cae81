/* handler.S: what is called at the begin of signal handlers, and where they return to while a trace
 * is recorded.
 *
 * The kernel lets a handler return to code that enters the kernel again (rt_sigreturn), by the
 * address that the program or the C library has given it. quipu_trace_interrupted replaces that
 * address, so the end of the handler is in the trace: behind it the interrupted function goes on,
 * where no record is. Unwinders find the interrupted function by the rules below, which are those
 * of the C library's own code: each register is in the kernel's frame. The rules begin one
 * instruction early, since unwinders look for the address in front of a return address. */
#include "runtime/core/registers.inc"

/* Register NUMBER (of DWARF) is at OFFSET bytes from the stack pointer. The offset has two bytes as
 * an SLEB128 number. */
.macro  saved number, offset
        .cfi_escape 0x10, \number, 3, 0x77, (\offset & 0x7f) | 0x80, \offset >> 7
.endm

        .text
        .balign 16
        .globl  quipu_trace_handler
        .hidden quipu_trace_handler
        .type   quipu_trace_handler, @function
/* Is called at the begin of a function whose third argument is the address directly above its
 * return address, as that of a signal handler. Keeps all registers. */
quipu_trace_handler:
        .cfi_startproc
        _CET_ENDBR
        keep_registers
        movq    %rdx, %rdi
        movq    16(%rbp), %rsi       /* the function's return address */
        call    quipu_trace_interrupted
        leaq    -80(%rbp), %rsp
        popq    %r11
        restore_registers
        .cfi_endproc
        .size   quipu_trace_handler, . - quipu_trace_handler
        .hidden quipu_trace_interrupted

/* Defines NAME, to which handlers return, with the second argument of quipu_trace_resumed. */
.macro  restorer name, holds
        .balign 16
        .cfi_startproc simple
        .cfi_signal_frame
        .cfi_escape 0x0f, 4, 0x77, (160 & 0x7f) | 0x80, 160 >> 7, 0x06   /* the frame: its %rsp */
        saved   8, 40
        saved   9, 48
        saved   10, 56
        saved   11, 64
        saved   12, 72
        saved   13, 80
        saved   14, 88
        saved   15, 96
        saved   5, 104
        saved   4, 112
        saved   6, 120
        saved   3, 128
        saved   1, 136
        saved   0, 144
        saved   2, 152
        saved   7, 160
        saved   16, 168
        nop
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        movq    %rsp, %rdi           /* the kernel's frame */
        movl    $\holds, %esi
        call    quipu_trace_resumed
        movq    $15, %rax            /* rt_sigreturn */
        syscall
        hlt
        .cfi_endproc
        .size   \name, . - \name
.endm

        restorer quipu_trace_restorer, 0
        restorer quipu_trace_cursor_restorer, 1
        .hidden quipu_trace_resumed

        .section .note.GNU-stack, "", @progbits
