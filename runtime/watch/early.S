/* early.S: starts an executable before the constructors of its shared objects, which may call it.
 * Only code for executables refers to quipu_watch_early, because shared objects cannot have a
 * .preinit_array. */
#ifdef __CET__
#include <cet.h>
#endif

        .section .preinit_array, "aw", @preinit_array
        .balign 8
        .globl  quipu_watch_early
        .hidden quipu_watch_early
        .type   quipu_watch_early, @object
        .size   quipu_watch_early, 8
quipu_watch_early:
        .quad   quipu_watch_start
        .hidden quipu_watch_start

        .section .note.GNU-stack, "", @progbits
