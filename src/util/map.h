/* map.h: from text to a number, open addressing, in an arena. */
#ifndef QUIPU_UTIL_MAP_H
#define QUIPU_UTIL_MAP_H

#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct map_entry {
    const char *key; /* not NUL-terminated, not owned; NULL: free */
    uint32_t length;
    uint32_t hash;
    uint32_t value;
};

/* FNV-1a. */
uint32_t hash_text(const char *key, size_t length);

/* All zero is an empty map.  Invariant: count is at most three quarters of capacity, which is a
 * power of two. */
struct map {
    struct map_entry *entries;
    size_t count;
    size_t capacity;
};

/* Returns the value's place, or NULL where KEY is not in the map. */
uint32_t *map_find(const struct map *map, const char *key, size_t length);

/* Returns the value's place, made with VALUE where KEY was not in the map.  KEY must live as long
 * as the map.  The place is valid until the next map_add. */
uint32_t *map_add(struct arena *arena, struct map *map, const char *key, size_t length,
                  uint32_t value);

#endif
