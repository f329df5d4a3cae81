/* map.c: a hash table from texts to numbers; see map.h. */
#include "util/map.h"

#include <string.h>

uint32_t hash_text(const char *key, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)key[i]) * 16777619u;
    return hash;
}

/* Returns the entry of KEY, or the free entry for it. */
static struct map_entry *probe(const struct map *map, const char *key, size_t length,
                               uint32_t hash) {
    size_t mask = map->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_entry *entry = &map->entries[i];
        if (!entry->key || (entry->hash == hash && entry->length == length &&
                            memcmp(entry->key, key, length) == 0))
            return entry;
    }
}

static void double_capacity(struct arena *arena, struct map *map) {
    struct map old = *map;
    map->capacity = old.capacity ? 2 * old.capacity : 64;
    map->entries = ARENA_ARRAY(arena, struct map_entry, map->capacity);
    for (size_t i = 0; i < old.capacity; i++) {
        const struct map_entry *entry = &old.entries[i];
        if (entry->key)
            *probe(map, entry->key, entry->length, entry->hash) = *entry;
    }
}

uint32_t *map_find(const struct map *map, const char *key, size_t length) {
    if (!map->capacity)
        return NULL;
    struct map_entry *entry = probe(map, key, length, hash_text(key, length));
    return entry->key ? &entry->value : NULL;
}

static uint32_t *add(struct arena *arena, struct map *map, const char *key, size_t length,
                     uint32_t value, bool copies) {
    if (map->count >= map->capacity / 4 * 3)
        double_capacity(arena, map);
    uint32_t hash = hash_text(key, length);
    struct map_entry *entry = probe(map, key, length, hash);
    if (!entry->key) {
        *entry = (struct map_entry){.key = copies ? arena_copy(arena, key, length) : key,
                                    .length = (uint32_t)length,
                                    .hash = hash,
                                    .value = value};
        map->count++;
    }
    return &entry->value;
}

uint32_t *map_add(struct arena *arena, struct map *map, const char *key, size_t length,
                  uint32_t value) {
    return add(arena, map, key, length, value, false);
}

uint32_t *map_add_copy(struct arena *arena, struct map *map, const void *key, size_t length,
                       uint32_t value) {
    return add(arena, map, key, length, value, true);
}
