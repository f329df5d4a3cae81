/* kernel.h: what the kernels share: their size, taken from the command line, and a random sequence
 * that is the same everywhere.
 *
 * A kernel is one file that works for about a second, prints a checksum and needs nothing else.  A
 * first line `flags: ...` within its top comment replaces -O2. */
#ifndef QUIPU_BENCH_KERNEL_H
#define QUIPU_BENCH_KERNEL_H

#include <stdint.h>
#include <stdlib.h>

/* FULL rounds, or the percentage of them that the first argument asks for; at least one. */
static inline unsigned kernel_rounds(int argc, char **argv, unsigned full) {
    unsigned percent = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
    unsigned rounds = (unsigned)((uint64_t)full * percent / 100);
    return rounds ? rounds : 1;
}

/* Marsaglia's xorshift64*: the upper half of the product. */
static inline uint32_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * 0x2545f4914f6cdd1d) >> 32);
}

#endif
