/* cache.h: caches with sets, lines and the replacement of the line that was used least recently.
 *
 * A reference that is on several lines uses them in the order of their addresses, and counts as one
 * miss if any of them is missed. A line that is missed is filled, by a write too. Source: valgrind,
 * cachegrind/cg_sim.c; test/trace/cache_cachegrind.sh compares with it. */
#ifndef QUIPU_CACHE_CACHE_H
#define QUIPU_CACHE_CACHE_H

#include "cache/source.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LINE_MIN = 16, /* bytes; as in cachegrind */
};

/* Invariant of a shape that was parsed: the line is a power of two, and so is the number of sets:
 * size = sets * ways * line. */
struct cache_shape {
    uint64_t size; /* bytes; 0: there is no such cache */
    uint64_t ways; /* lines in a set */
    uint32_t line; /* bytes */
};

/* Reads "SIZE,WAYS,LINE", where SIZE may have the unit K, M or G and WAYS may be "full". Any other
 * TEXT ends the program with an error that names OPTION. */
struct cache_shape parse_cache_shape(const char *option, const char *text);

/* Whether SHAPE, which may come from a file, has the invariant of a shape, and is not too large. */
bool cache_shape_is_valid(const struct cache_shape *shape);

static inline bool is_same_shape(const struct cache_shape *a, const struct cache_shape *b) {
    return a->size == b->size && a->ways == b->ways && a->line == b->line;
}

struct cache {
    struct cache_shape shape;
    unsigned line_bits;
    uint64_t set_mask; /* number of sets - 1 */
    uint64_t *lines; /* 1 + address of the line / its size; by set, the recent ones first; 0: none.
                        Owned */
};

/* Makes an empty cache. The caller releases it. */
void cache_begin(struct cache *cache, struct cache_shape shape);
void cache_release(struct cache *cache);

/* Uses the bytes. Returns whether a line of them was missed. */
bool cache_misses(struct cache *cache, uint64_t address, uint32_t size);

/* Uses LINE, an address divided by the line's size. Returns whether it was missed. Then it is
 * filled, and *LOST is 1 + the line that it replaced, or 0. */
bool cache_misses_line(struct cache *cache, uint64_t line, uint64_t *lost);

/* Removes LINE. Returns whether it was there. */
bool cache_remove(struct cache *cache, uint64_t line);

/* The levels through which a reference goes, until one has it. */
enum cache_level {
    LEVEL_FIRST, /* one cache for fetches, one for data */
    LEVEL_SECOND,
    LEVEL_LAST,
    LEVELS,
};

/* What the last level holds. */
enum inclusion {
    INCLUSION_INDEPENDENT, /* what it was used for; what it loses stays in the others (cachegrind)
                            */
    INCLUSION_INCLUSIVE,   /* all that the others hold: what it loses, they lose */
    INCLUSION_EXCLUSIVE,   /* what the level in front of it has lost, until that gets it back */
};

struct hierarchy_shape {
    struct cache_shape instruction, data, second, last; /* second, last: may have the size 0 */
    enum inclusion inclusion; /* if not independent: all lines have one size */
};

/* Returns the rule with that NAME, from --levels=NAME. An unknown name ends the program with an
 * error. */
enum inclusion choose_inclusion(const char *name);
const char *inclusion_name(enum inclusion inclusion);

/* Ends the program with an error if caches of these shapes do not fit together. */
void check_levels(const struct hierarchy_shape *shape);

/* Whether they do. */
bool levels_fit(const struct hierarchy_shape *shape);

bool is_same_hierarchy(const struct hierarchy_shape *a, const struct hierarchy_shape *b);

/* The caches of one processor. */
struct hierarchy {
    struct cache instruction, data, second, last; /* one whose size is 0 is left out */
    enum inclusion inclusion;
    struct hierarchy *sharing; /* all that have this last level, itself among them */
    unsigned sharing_count;
};

void hierarchy_begin(struct hierarchy *hierarchy, const struct hierarchy_shape *shape);
void hierarchy_release(struct hierarchy *hierarchy);

/* Returns the levels that REFERENCE missed, as bits 1 << enum cache_level. */
unsigned hierarchy_use(struct hierarchy *hierarchy, const struct memory_reference *reference);

/* What one place did. */
struct cache_counts {
    uint64_t references[REFERENCE_KINDS];
    uint64_t misses[REFERENCE_KINDS][LEVELS];
    /* with several processors */
    uint64_t coherence_misses[REFERENCE_KINDS]; /* of the first level's: another one has written */
    uint64_t invalidations; /* lines that its writes have removed from others' caches */
};

/* Adds the misses of a reference of KIND, which MISSED these levels, as hierarchy_use returns them.
 */
static inline void add_misses(struct cache_counts *counts, uint8_t kind, unsigned missed) {
    for (unsigned level = 0; missed; level++, missed >>= 1)
        counts->misses[kind][level] += missed & 1;
}

/* Adds the reference, too. */
static inline void count_reference(struct cache_counts *counts, uint8_t kind, unsigned missed) {
    counts->references[kind]++;
    add_misses(counts, kind, missed);
}

struct processors;

/* Simulates all references of SOURCE, on PROCESSORS, or, if that is NULL, on one with HIERARCHY.
 * Returns the counts of each of its places; the caller frees them. */
struct cache_counts *simulate_caches(struct reference_source *source, struct hierarchy *hierarchy,
                                     struct processors *processors);

#endif
