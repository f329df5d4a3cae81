/* watch_entry.S: where inserted code comes around a store that may touch watched memory, and at the
 * begin and the ends of a function whose locals are watched.
 *
 * The contract stands in data/watch_format.h, section 2.  The caller is anywhere in a function:
 * every register and the flags are kept; vector and x87 registers are not touched by the runtime,
 * and kept around the program's own handlers.
 *
 * All modules with watched stores have this, so the start of all stands here, too. */
#include "registers.inc"

/* A function of C that gets the frame's address: it finds there
 *     -8 flags, 0 %rbp, 8 the return address, 16 what was pushed last, 24, 32
 * and the stack pointer before PUSHED bytes were pushed.  The stack pointer goes up by ROOM when it
 * returns. */
.macro  entry name, function, pushed=0, room=0
        .text
        .balign 16
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
        _CET_ENDBR
        keep_registers
        movq    %rbp, %rdi
        leaq    16+\pushed(%rbp), %rsi
        call    \function
        leaq    -80(%rbp), %rsp
        popq    %r11
        restore_registers \room
        .cfi_endproc
        .size   \name, . - \name
        .hidden \function
.endm

        /* back to where the stack pointer was above the red zone */
        entry   quipu_watch_begin, quipu_watch_begun, 16, 128+16
        entry   quipu_watch_begin_more, quipu_watch_begun, 24, 128+24
        entry   quipu_watch_end, quipu_watch_ended, 0, 128
        entry   quipu_watch_return, quipu_watch_called, 8, 128+8
        entry   quipu_watch_call_begin, quipu_watch_call_begun
        entry   quipu_watch_call_end, quipu_watch_call_ended
        entry   quipu_watch_function_begin, quipu_watch_function_begun
        entry   quipu_watch_function_end, quipu_watch_function_ended
        entry   quipu_watch_function_back, quipu_watch_function_returned

        .section .init_array.00000, "aw", @init_array
        .balign 8
        .quad   quipu_watch_start
        .hidden quipu_watch_start

        .section .note.GNU-stack, "", @progbits
