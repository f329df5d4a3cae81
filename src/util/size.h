/* size.h: sizes as users write them. */
#ifndef QUIPU_UTIL_SIZE_H
#define QUIPU_UTIL_SIZE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SIZE_MAX_BITS = 36 /* the largest size is 64 GB */
};

/* Reads a number with a unit, K, M or G, which may be missing, at *TEXT, and goes behind it.
 * Returns false if there is none, or if it is too large. */
bool read_size(const char **text, uint64_t *bytes);

#endif
