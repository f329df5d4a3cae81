/* guard.h: what would end the program ends only a call of the library: a lack of memory, or a
 * broken invariant. */
#ifndef QUIPU_LIBRARY_GUARD_H
#define QUIPU_LIBRARY_GUARD_H

#include <setjmp.h>
#include <stdbool.h>

/* A guard of zeros is ready. */
struct guard {
    jmp_buf place;
    char message[256];
    struct guard *outer;
};

/* Calls WORK with CONTEXT. Returns true if it came to its end; false if an error has ended it, with
 * the message in GUARD. What it had allocated outside of arenas is then lost. */
bool run_in_guard(struct guard *guard, void (*work)(void *context), void *context);

#endif
