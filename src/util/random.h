/* random.h: random numbers for what needs no secrets.
 *
 * Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003), 14. */
#ifndef QUIPU_UTIL_RANDOM_H
#define QUIPU_UTIL_RANDOM_H

#include <stdint.h>

/* Returns the next random number. STATE, 0 at first or a seed, is the generator's. */
static inline uint32_t next_random(uint64_t *state) {
    uint64_t x = *state ? *state : UINT64_C(88172645463325252);
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return (uint32_t)(x >> 32);
}

#endif
