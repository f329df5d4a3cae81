/* inline_calls.h: the source lines of one instruction: its own, and those of the calls that were
 * inlined around it. */
#ifndef QUIPU_SYMBOLS_INLINE_CALLS_H
#define QUIPU_SYMBOLS_INLINE_CALLS_H

#include "symbols/binary.h"

struct code_place {
    const char *function; /* inlined, as the source names it; NULL: that which has the code */
    const char *file;     /* normalized */
    uint32_t line;
};

enum {
    CODE_PLACES_MAX = 32
};

/* Sets PLACES to the lines of the code at ADDRESS, as linked: from the innermost inlined function
 * to the function that has the code. Returns their number; 0: no line is known. Texts are in ARENA
 * or belong to BINARY. */
size_t find_code_places(struct arena *arena, const struct binary *binary, uint64_t address,
                        struct code_place places[CODE_PLACES_MAX]);

#endif
