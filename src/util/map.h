/* map.h: a hash table from texts to numbers, with open addressing, in an arena. */
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

/* Returns the FNV-1a hash of KEY. */
uint32_t hash_text(const char *key, size_t length);

/* A map of zeros is empty. Invariant: capacity is a power of two or 0, and count is at most three
 * quarters of it. */
struct map {
    struct map_entry *entries;
    size_t count;
    size_t capacity;
};

/* Returns the address of KEY's value, or NULL if KEY is not in the map. */
uint32_t *map_find(const struct map *map, const char *key, size_t length);

/* Returns the address of KEY's value. If KEY is not in the map, adds it with VALUE. KEY must live
 * as long as the map. The address is valid until the next map_add. */
uint32_t *map_add(struct arena *arena, struct map *map, const char *key, size_t length,
                  uint32_t value);

/* Does the same as map_add, but if KEY is not in the map, adds a copy of it, which is in ARENA. */
uint32_t *map_add_copy(struct arena *arena, struct map *map, const void *key, size_t length,
                       uint32_t value);

#endif
