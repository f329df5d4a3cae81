/* build_id.h: finds the build id among loaded ELF notes. */
#ifndef QUIPU_UTIL_BUILD_ID_H
#define QUIPU_UTIL_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

/* Returns the build id in NOTES, a segment of SIZE bytes, and sets LENGTH to its size in bytes.
 * Returns NULL if there is none. The segment may contain anything. */
const uint8_t *find_build_id(const uint8_t *notes, size_t size, size_t *length);

#endif
