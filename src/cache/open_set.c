/* open_set.c: uses of sets that are not certain; see open_set.h. */
#include "cache/open_set.h"

#include <string.h>

void part_cache_begin(struct part_cache *cache, struct cache_shape shape) {
    *cache = (struct part_cache){0};
    cache_begin(&cache->cache, shape);
}

void part_cache_release(struct part_cache *cache) {
    cache_release(&cache->cache);
    number_table_release(&cache->numbers);
    arena_release(&cache->arena);
}

void part_cache_clear(struct part_cache *cache) {
    struct cache_shape shape = cache->cache.shape;
    part_cache_release(cache);
    part_cache_begin(cache, shape);
}

static uint64_t *array_of(struct part_cache *cache, uint64_t number) {
    return cache->cache.lines + number * cache->cache.shape.ways;
}

/* Returns the set with that NUMBER, which is not open if it is new. */
static struct open_set *set_of(struct part_cache *cache, uint64_t number) {
    uint32_t *index = number_table_at(&cache->numbers, number);
    if (!*index) {
        vector_push(&cache->arena, &cache->sets, ((struct open_set){.number = number}));
        *index = (uint32_t)cache->sets.count;
    }
    return &cache->sets.data[*index - 1];
}

struct open_set *find_open_set(struct part_cache *cache, uint64_t number) {
    if (!cache->sets.count)
        return NULL;
    struct open_set *set = set_of(cache, number);
    return set->open ? set : NULL;
}

/* Makes the set with that NUMBER an open one, of the lines in its array. */
static struct open_set *open_it(struct part_cache *cache, uint64_t number) {
    struct open_set *set = set_of(cache, number);
    const uint64_t *array = array_of(cache, number);
    set->open = true;
    set->uses.count = 0;
    set->certain = 0;
    for (uint64_t way = cache->cache.shape.ways; way-- > 0;)
        if (array[way]) {
            vector_push(&cache->arena, &set->uses, ((struct possible_use){array[way] - 1, 0}));
            set->certain++;
        }
    return set;
}

/* Writes the lines of SET, none of which has a condition, to its array. */
static void close_it(struct part_cache *cache, struct open_set *set) {
    uint64_t *array = array_of(cache, set->number);
    memset(array, 0, cache->cache.shape.ways * sizeof *array);
    for (size_t i = 0; i < set->uses.count; i++)
        array[i] = set->uses.data[set->uses.count - 1 - i].line + 1;
    set->open = false;
}

/* Asks what a use of the question's line comes to. Sets the question's uses, in the set, if that is
 * open. */
static enum use_outcome ask(const struct open_set *set, uint64_t ways,
                            struct line_question *question) {
    const struct possible_use *uses = set->uses.data;
    uint64_t in_front = 0; /* other lines, at most */
    bool may_be_there = false;
    for (size_t i = set->uses.count; i-- > 0;) {
        if (uses[i].line != question->line) {
            in_front++;
        } else if (uses[i].condition) {
            may_be_there = true;
        } else {
            question->uses = uses + i;
            question->count = set->uses.count - i;
            return in_front < ways ? USE_HITS : USE_IS_OPEN;
        }
    }
    question->uses = uses;
    question->count = may_be_there ? set->uses.count : 0;
    return set->certain == ways && !may_be_there ? USE_MISSES : USE_IS_OPEN;
}

/* A certain use of LINE hides the ones before it, and pushes out what is behind as many lines as
 * there are WAYS. */
static void use_certainly(struct part_cache *cache, struct open_set *set, uint64_t line) {
    uint64_t ways = cache->cache.shape.ways;
    struct possible_use *uses = set->uses.data;
    size_t kept = 0, first = 0;
    for (size_t i = 0; i < set->uses.count; i++) {
        if (uses[i].line != line)
            uses[kept++] = uses[i];
        else
            set->certain -= uses[i].condition == 0;
    }
    set->uses.count = kept;
    vector_push(&cache->arena, &set->uses, ((struct possible_use){line, 0}));
    uses = set->uses.data;
    CHECK(uses);
    if (++set->certain > ways) {
        while (uses[first].condition)
            first++;
        first++;
        set->certain--;
    }
    if (set->certain == ways)
        while (uses[first].condition)
            first++;
    set->uses.count -= first;
    memmove(uses, uses + first, set->uses.count * sizeof *uses);
    if (set->certain == set->uses.count)
        close_it(cache, set);
}

static enum use_outcome use_open(struct part_cache *cache, struct open_set *set,
                                 struct arena *arena, uint32_t condition,
                                 struct line_question *question) {
    enum use_outcome outcome = ask(set, cache->cache.shape.ways, question);
    if (outcome == USE_IS_OPEN && question->count)
        question->uses = arena_grow(arena, question->uses, question->count, question->count,
                                    sizeof *question->uses);
    bool repeats = false; /* the line was used last, certainly */
    if (set->uses.count) {
        const struct possible_use *last = vector_at(&set->uses, set->uses.count - 1);
        repeats = !last->condition && last->line == question->line;
    }
    if (!condition)
        use_certainly(cache, set, question->line);
    else if (!repeats)
        vector_push(&cache->arena, &set->uses, ((struct possible_use){question->line, condition}));
    return outcome;
}

enum use_outcome part_cache_use(struct part_cache *cache, struct arena *arena, uint64_t line,
                                uint32_t condition, struct line_question *question) {
    uint64_t number = line & cache->cache.set_mask, lost = 0;
    struct open_set *set = find_open_set(cache, number);
    *question = (struct line_question){.line = line};
    if (!set && condition)
        set = open_it(cache, number);
    if (set)
        return use_open(cache, set, arena, condition, question);
    if (!cache_misses_line(&cache->cache, line, &lost))
        return USE_HITS;
    return lost ? USE_MISSES : USE_IS_OPEN;
}
