/* open_set.h: a set of a cache whose uses are not all certain.
 *
 * A part of a trace begins with caches whose contents are not known. So it may stay open whether
 * the first level has missed a reference, and then whether the next level was used at all. An open
 * set keeps the lines that were used in the part, and under which condition, as far as that
 * matters.
 *
 * A set that is not open is an array, as in cache.c: lines of the part only, the most recent first.
 * As long as it is not full, a line that is not there may have been there before the part.
 *
 * Invariants: a line is in a set at most once without a condition, and nothing behind that has the
 * same line. Behind as many such lines as the set has ways, there is nothing. */
#ifndef QUIPU_CACHE_OPEN_SET_H
#define QUIPU_CACHE_OPEN_SET_H

#include "cache/cache.h"
#include "cache/number_table.h"
#include "util/arena.h"
#include "util/vector.h"

/* A use of a line. */
struct possible_use {
    uint64_t line;
    uint32_t condition; /* 1 + the event that must be a miss; 0: the use is certain */
};

typedef VECTOR(struct possible_use) possible_uses;

struct open_set {
    uint64_t number;
    bool open;          /* otherwise the cache's array has it */
    possible_uses uses; /* the last use of a line; the most recent one last */
    uint64_t certain;   /* of them, without condition */
};

/* A cache whose contents are not known at its begin. */
struct part_cache {
    struct arena arena; /* of the sets */
    struct cache cache;
    struct number_table numbers;  /* 1 + index in `sets`, by number of the set */
    VECTOR(struct open_set) sets; /* those that are open or were it */
};

enum use_outcome {
    USE_HITS,
    USE_MISSES,
    USE_IS_OPEN,
};

/* What the outcome of an open use depends on. */
struct line_question {
    uint64_t line;
    /* The uses in front of it that matter, `count` of them, the most recent one last. 0: there is
     * no use of the line in the part, and the lines that the set got in the part are all in front.
     */
    const struct possible_use *uses;
    size_t count;
};

void part_cache_begin(struct part_cache *cache, struct cache_shape shape);
void part_cache_release(struct part_cache *cache);

/* Makes the contents unknown again. */
void part_cache_clear(struct part_cache *cache);

/* Uses LINE, certainly if CONDITION is 0. Returns what comes of it if it is used; if that is open,
 * sets QUESTION, whose uses are in ARENA. */
enum use_outcome part_cache_use(struct part_cache *cache, struct arena *arena, uint64_t line,
                                uint32_t condition, struct line_question *question);

/* Returns the set with that NUMBER if it is open, or NULL. */
struct open_set *find_open_set(struct part_cache *cache, uint64_t number);

#endif
