/* random.h: random numbers for a fuzzer, which are the same on every machine. */
#ifndef QUIPU_FUZZ_RANDOM_H
#define QUIPU_FUZZ_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static uint64_t state; /* not 0 */

static inline uint64_t random_number(void) { /* Marsaglia, "Xorshift RNGs" (2003) */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static inline size_t random_below(size_t limit) {
    return limit ? random_number() % limit : 0;
}

#endif
