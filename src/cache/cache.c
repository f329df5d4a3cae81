/* cache.c: one cache; see cache.h. */
#include "cache/cache.h"

#include "util/diag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cache_begin(struct cache *cache, struct cache_shape shape) {
    *cache = (struct cache){.shape = shape};
    if (!shape.size)
        return;
    uint64_t count = shape.size / shape.line;
    cache->line_bits = (unsigned)__builtin_ctz(shape.line);
    cache->set_mask = count / shape.ways - 1;
    cache->lines = calloc(count, sizeof *cache->lines);
    if (!cache->lines)
        die("out of memory: no room for a cache of %" PRIu64 " bytes", shape.size);
}

void cache_release(struct cache *cache) {
    free(cache->lines);
    *cache = (struct cache){0};
}

/* Makes LINE the most recent one of its set. Returns whether it was missing; then *LOST is what the
 * set's least recent place had. */
static inline bool misses_line(struct cache *cache, uint64_t line, uint64_t *lost) {
    uint64_t *set = cache->lines + (line & cache->set_mask) * cache->shape.ways;
    uint64_t mark = line + 1, moved = set[0];
    if (moved == mark)
        return false;
    set[0] = mark;
    for (uint64_t way = 1; way < cache->shape.ways; way++) {
        uint64_t next = set[way];
        set[way] = moved;
        if (next == mark)
            return false;
        moved = next;
    }
    *lost = moved;
    return true;
}

bool cache_misses_line(struct cache *cache, uint64_t line, uint64_t *lost) {
    return misses_line(cache, line, lost);
}

bool cache_remove(struct cache *cache, uint64_t line) {
    uint64_t *set = cache->lines + (line & cache->set_mask) * cache->shape.ways;
    uint64_t way = 0, ways = cache->shape.ways;
    while (way < ways && set[way] != line + 1)
        way++;
    if (way == ways)
        return false;
    memmove(set + way, set + way + 1, (ways - way - 1) * sizeof *set);
    set[ways - 1] = 0;
    return true;
}

bool cache_misses(struct cache *cache, uint64_t address, uint32_t size) {
    uint64_t line = address >> cache->line_bits;
    uint64_t last = (address + size - 1) >> cache->line_bits;
    uint64_t lost;
    bool missed = misses_line(cache, line, &lost);
    while (line < last) /* not '!=': a corrupt trace may have bytes beyond the last address */
        missed |= misses_line(cache, ++line, &lost);
    return missed;
}
