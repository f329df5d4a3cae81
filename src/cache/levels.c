/* levels.c: the levels of one processor's caches, and what they count; see cache.h. */
#include "cache/cache.h"

#include "cache/processors.h"
#include "util/diag.h"
#include "util/near.h"

#include <stdlib.h>
#include <string.h>

static const char *inclusion_name_at(size_t i) {
    static const char *const names[] = {
        [INCLUSION_INDEPENDENT] = "independent",
        [INCLUSION_INCLUSIVE] = "inclusive",
        [INCLUSION_EXCLUSIVE] = "exclusive",
    };
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *inclusion_name(enum inclusion inclusion) {
    return inclusion_name_at(inclusion);
}

enum inclusion choose_inclusion(const char *name) {
    return (enum inclusion)choose_name("--levels", "rule", name, inclusion_name_at);
}

bool levels_fit(const struct hierarchy_shape *shape) {
    uint32_t line = shape->data.line;
    return shape->inclusion == INCLUSION_INDEPENDENT ||
           (shape->last.size && shape->instruction.line == line && shape->last.line == line &&
            (!shape->second.size || shape->second.line == line));
}

bool is_same_hierarchy(const struct hierarchy_shape *a, const struct hierarchy_shape *b) {
    return is_same_shape(&a->instruction, &b->instruction) && is_same_shape(&a->data, &b->data) &&
           is_same_shape(&a->second, &b->second) && is_same_shape(&a->last, &b->last) &&
           a->inclusion == b->inclusion;
}

void check_levels(const struct hierarchy_shape *shape) {
    const char *name = inclusion_name_at(shape->inclusion);
    if (levels_fit(shape))
        return;
    if (!shape->last.size)
        die("'--levels=%s': there is no last level; leave out --llc=none", name);
    die("'--levels=%s': the lines of all caches must have one size", name);
}

void hierarchy_begin(struct hierarchy *hierarchy, const struct hierarchy_shape *shape) {
    hierarchy->inclusion = shape->inclusion;
    hierarchy->sharing = hierarchy;
    hierarchy->sharing_count = 1;
    cache_begin(&hierarchy->instruction, shape->instruction);
    cache_begin(&hierarchy->data, shape->data);
    cache_begin(&hierarchy->second, shape->second);
    cache_begin(&hierarchy->last, shape->last);
}

void hierarchy_release(struct hierarchy *hierarchy) {
    cache_release(&hierarchy->instruction);
    cache_release(&hierarchy->data);
    cache_release(&hierarchy->second);
    cache_release(&hierarchy->last);
}

/* Levels that are independent get the whole reference, with all of its lines, as in cachegrind. */
static unsigned use_independent(struct hierarchy *hierarchy, struct cache *first,
                                const struct memory_reference *reference) {
    if (!cache_misses(first, reference->address, reference->size))
        return 0;
    unsigned missed = 1 << LEVEL_FIRST;
    if (hierarchy->second.lines) {
        if (!cache_misses(&hierarchy->second, reference->address, reference->size))
            return missed;
        missed |= 1 << LEVEL_SECOND;
    }
    if (hierarchy->last.lines &&
        cache_misses(&hierarchy->last, reference->address, reference->size))
        missed |= 1 << LEVEL_LAST;
    return missed;
}

/* The last level has lost a line: LOST is 1 + it, or 0. */
static void lose_everywhere(struct hierarchy *hierarchy, uint64_t lost) {
    for (unsigned i = 0; lost && i < hierarchy->sharing_count; i++) {
        struct hierarchy *one = &hierarchy->sharing[i];
        cache_remove(&one->instruction, lost - 1);
        cache_remove(&one->data, lost - 1);
        if (one->second.lines)
            cache_remove(&one->second, lost - 1);
    }
}

/* The level in front of the last one has missed LINE, and got it; LOST is 1 + what it lost for
 * that, or 0. Returns whether the last level missed LINE, too. Both first caches may have had the
 * lost line, so the last level may have it already. */
static bool exchange(struct hierarchy *hierarchy, uint64_t line, uint64_t lost) {
    uint64_t ignored;
    bool missed = !cache_remove(&hierarchy->last, line);
    if (lost)
        (void)cache_misses_line(&hierarchy->last, lost - 1, &ignored);
    return missed;
}

/* One line, where levels depend on each other. */
static unsigned use_line(struct hierarchy *hierarchy, struct cache *first, uint64_t line) {
    uint64_t lost = 0;
    if (!cache_misses_line(first, line, &lost))
        return 0;
    unsigned missed = 1 << LEVEL_FIRST;
    if (hierarchy->second.lines) {
        if (!cache_misses_line(&hierarchy->second, line, &lost))
            return missed;
        missed |= 1 << LEVEL_SECOND;
    }
    if (hierarchy->inclusion == INCLUSION_EXCLUSIVE)
        return exchange(hierarchy, line, lost) ? missed | 1 << LEVEL_LAST : missed;
    if (!cache_misses_line(&hierarchy->last, line, &lost))
        return missed;
    lose_everywhere(hierarchy, lost);
    return missed | 1 << LEVEL_LAST;
}

unsigned hierarchy_use(struct hierarchy *hierarchy, const struct memory_reference *reference) {
    struct cache *first =
        reference->kind == REFERENCE_FETCH ? &hierarchy->instruction : &hierarchy->data;
    if (hierarchy->inclusion == INCLUSION_INDEPENDENT)
        return use_independent(hierarchy, first, reference);
    uint64_t line = reference->address >> first->line_bits;
    uint64_t last = (reference->address + reference->size - 1) >> first->line_bits;
    unsigned missed = 0;
    do
        missed |= use_line(hierarchy, first, line);
    while (line++ < last);
    return missed;
}

static uint32_t smallest_line(const struct hierarchy *hierarchy) {
    const struct cache *caches[] = {&hierarchy->instruction, &hierarchy->data, &hierarchy->second,
                                    &hierarchy->last};
    uint32_t smallest = REFERENCE_SIZE_MAX;
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        if (caches[i]->shape.size && caches[i]->shape.line < smallest)
            smallest = caches[i]->shape.line;
    return smallest;
}

/* Returns COUNTS with room for COUNT places, of which there were *ROOM. */
static struct cache_counts *grow_counts(struct cache_counts *counts, size_t *room, size_t count) {
    size_t more = 2 * count;
    counts = realloc(counts, more * sizeof *counts);
    if (!counts)
        die("out of memory: no room for the counts of %zu places", more);
    memset(counts + *room, 0, (more - *room) * sizeof *counts);
    *room = more;
    return counts;
}

struct cache_counts *simulate_caches(struct reference_source *source, struct hierarchy *hierarchy,
                                     struct processors *processors) {
    static struct memory_reference references[REFERENCES_MOST];
    struct cache_counts *counts = NULL;
    size_t room = 0, count;
    uint32_t longest = source->shortens ? smallest_line(hierarchy) : REFERENCE_SIZE_MAX;
    while ((count = source->next(source, references, REFERENCES_MOST))) {
        if (room < source->places.count)
            counts = grow_counts(counts, &room, source->places.count);
        CHECK(counts);
        for (size_t i = 0; i < count; i++) {
            struct memory_reference *reference = &references[i];
            if (reference->size > longest)
                reference->size = longest;
            struct cache_counts *of_place = &counts[reference->place];
            if (processors)
                processors_use(processors, reference, of_place);
            else
                count_reference(of_place, reference->kind, hierarchy_use(hierarchy, reference));
        }
    }
    return counts;
}
