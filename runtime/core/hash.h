/* hash.h: the hash function of the runtime's tables. */
#ifndef QUIPU_RUNTIME_CORE_HASH_H
#define QUIPU_RUNTIME_CORE_HASH_H

#include <stdint.h>

/* Fibonacci hashing: the top bits are the good ones. */
static inline uint64_t scatter_bits(uint64_t key) {
    key ^= key >> 29;
    return key * 0x9e3779b97f4a7c15;
}

#endif
