/* build_id.h: the build id among ELF notes that are loaded. */
#ifndef QUIPU_UTIL_BUILD_ID_H
#define QUIPU_UTIL_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

/* Returns the build id in the SIZE bytes of NOTES, a segment of them that may hold anything, and
 * sets LENGTH to how many bytes it has; NULL: there is none. */
const uint8_t *find_build_id(const uint8_t *notes, size_t size, size_t *length);

#endif
