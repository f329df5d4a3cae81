/* cache_part.c: caches on one part of a trace; see cache_part.h. */
#include "cache/cache_part.h"

#include "cache/kept.h"
#include "cache/open_set.h"
#include "cache/order_part.h"
#include "util/diag.h"

#include <stdlib.h>
#include <string.h>

enum cache_number {
    CACHE_INSTRUCTION,
    CACHE_DATA,
    CACHE_SECOND,
    CACHE_LAST,
    CACHES,
};

struct part_simulation {
    bool objects; /* places are objects: more than those with references are written */
    bool orders;  /* of several processors: nothing is simulated, too */
    struct order_part order;
    VECTOR(uint32_t) seen; /* by place: 1 + the thread whose part has begun with it last */
    uint32_t thread;
    bool keeps; /* levels depend on each other: references are kept, nothing is simulated */
    struct kept_references kept;
    struct part_cache caches[CACHES];
    struct arena arena;                     /* of questions */
    VECTOR(struct line_question) questions; /* of the reference, at one level */
    struct buffer events;
    uint32_t event_count;
    VECTOR(struct cache_counts) counts; /* by place */
    VECTOR(uint32_t) used; /* places of the thread, in the order of their first references */
};

/* ---- events ---- */

static void write_uses(struct buffer *out, const struct possible_use *uses, size_t count) {
    part_number(out, count, 8);
    for (size_t i = 0; i < count; i++) {
        part_number(out, uses[i].line, 8);
        part_number(out, uses[i].condition, 4);
    }
}

/* Whether REFERENCE misses LEVEL is open. It MISSES in any case if it is used at all. */
static void write_event(struct part_simulation *simulation,
                        const struct memory_reference *reference, enum cache_level level,
                        uint32_t condition, bool misses) {
    struct buffer *out = &simulation->events;
    part_number(out, reference->place, 4);
    part_number(out, reference->kind, 1);
    part_number(out, level, 1);
    part_number(out, misses, 1);
    part_number(out, condition, 4);
    part_number(out, simulation->questions.count, 8);
    for (size_t i = 0; i < simulation->questions.count; i++) {
        const struct line_question *question = &simulation->questions.data[i];
        part_number(out, question->line, 8);
        write_uses(out, question->uses, question->count);
    }
    if (simulation->event_count++ == UINT32_MAX - 1)
        die("too many references are open; cut the trace into fewer parts");
}

/* Uses CACHE for the reference, if *CONDITION is a miss, or certainly if it is 0. Returns whether
 * the next level may be used, and sets *CONDITION for it. */
static bool use_level(struct part_simulation *simulation, enum cache_number number,
                      enum cache_level level, const struct memory_reference *reference,
                      uint32_t *condition) {
    struct part_cache *cache = &simulation->caches[number];
    uint64_t line = reference->address >> cache->cache.line_bits;
    uint64_t last = (reference->address + reference->size - 1) >> cache->cache.line_bits;
    bool misses = false;
    simulation->questions.count = 0;
    do {
        struct line_question question;
        enum use_outcome outcome =
            part_cache_use(cache, &simulation->arena, line, *condition, &question);
        misses |= outcome == USE_MISSES;
        if (outcome == USE_IS_OPEN)
            vector_push(&simulation->arena, &simulation->questions, question);
    } while (line++ < last);
    if (!simulation->questions.count) {
        if (!misses)
            return false;
        if (!*condition) {
            simulation->counts.data[reference->place].misses[reference->kind][level]++;
            return true;
        }
    }
    write_event(simulation, reference, level, *condition, misses);
    if (*condition || !misses)
        *condition = simulation->event_count;
    return true;
}

static void use_reference(struct part_simulation *simulation,
                          const struct memory_reference *reference) {
    uint32_t condition = 0;
    if (!use_level(simulation, reference->kind == REFERENCE_FETCH ? CACHE_INSTRUCTION : CACHE_DATA,
                   LEVEL_FIRST, reference, &condition))
        return;
    if (simulation->caches[CACHE_SECOND].cache.lines &&
        !use_level(simulation, CACHE_SECOND, LEVEL_SECOND, reference, &condition))
        return;
    if (simulation->caches[CACHE_LAST].cache.lines)
        use_level(simulation, CACHE_LAST, LEVEL_LAST, reference, &condition);
}

/* ---- what is written of a thread ---- */

/* Writes the counts of all places that have any, in the order of their first references, and sets
 * them to 0. A thread before may have had another order, and may be left out by a merge. */
static void write_counts(struct buffer *out, struct part_simulation *simulation,
                         const uint32_t *places, size_t count) {
    part_number(out, count, 8);
    for (size_t i = 0; i < count; i++) {
        uint32_t place = places[i];
        struct cache_counts *counts = vector_at(&simulation->counts, place);
        part_number(out, place, 4);
        for (int kind = 0; kind < REFERENCE_KINDS; kind++) {
            part_number(out, counts->references[kind], 8);
            for (int level = 0; level < LEVELS; level++)
                part_number(out, counts->misses[kind][level], 8);
        }
        *counts = (struct cache_counts){0};
    }
}

/* Writes the lines of an array of WAYS places, the most recent one last. */
static void write_array(struct buffer *out, const uint64_t *array, uint64_t ways) {
    while (ways && !array[ways - 1])
        ways--;
    part_number(out, ways, 8);
    while (ways-- > 0) {
        part_number(out, array[ways] - 1, 8);
        part_number(out, 0, 4);
    }
}

/* Writes the sets that the part has used. */
static void write_cache(struct buffer *out, struct part_cache *cache) {
    if (!cache->cache.lines)
        return;
    struct buffer sets = {0};
    uint64_t count = 0, ways = cache->cache.shape.ways;
    for (uint64_t number = 0; number <= cache->cache.set_mask; number++) {
        const struct open_set *open = find_open_set(cache, number);
        const uint64_t *array = cache->cache.lines + number * ways;
        if (!open && !array[0])
            continue;
        count++;
        part_number(&sets, number, 8);
        if (open)
            write_uses(&sets, open->uses.data, open->uses.count);
        else
            write_array(&sets, array, ways);
    }
    part_number(out, count, 8);
    buffer_add(out, sets.data ? sets.data : "", sets.count);
    buffer_release(&sets);
}

/* Writes the events, and what is in the caches; and makes them unknown again. */
static void write_simulated(struct buffer *out, struct part_simulation *simulation) {
    part_number(out, simulation->event_count, 8);
    buffer_add(out, simulation->events.data ? simulation->events.data : "",
               simulation->events.count);
    for (int i = 0; i < CACHES; i++) {
        write_cache(out, &simulation->caches[i]);
        part_cache_clear(&simulation->caches[i]);
    }
    buffer_release(&simulation->events);
    simulation->event_count = 0;
    simulation->questions.data = NULL;
    simulation->questions.capacity = simulation->questions.count = 0;
    arena_release(&simulation->arena);
}

/* Takes a reference, or a ticket, of the order of threads. Returns whether it is kept. */
static bool take_ordered(struct part_simulation *simulation, struct reference_source *source,
                         const struct memory_reference *reference) {
    while (simulation->seen.count < source->places.count)
        vector_push(&source->arena, &simulation->seen, 0);
    bool first = false;
    if (reference->kind != REFERENCE_TICKET) {
        uint32_t *seen = vector_at(&simulation->seen, reference->place);
        first = *seen != simulation->thread;
        *seen = simulation->thread;
    }
    return order_part_take(&simulation->order, reference, first) ||
           reference->kind == REFERENCE_TICKET;
}

static void take_reference(struct part_simulation *simulation, struct reference_source *source,
                           const struct memory_reference *reference) {
    if (simulation->orders && take_ordered(simulation, source, reference))
        return;
    uint64_t *references = simulation->counts.data[reference->place].references;
    if (!(references[REFERENCE_FETCH] | references[REFERENCE_READ] | references[REFERENCE_WRITE]))
        vector_push(&source->arena, &simulation->used, reference->place);
    references[reference->kind]++;
    if (simulation->orders)
        return;
    if (simulation->keeps)
        kept_take(&simulation->kept, reference);
    else
        use_reference(simulation, reference);
}

static void simulate_thread(struct buffer *out, struct part_simulation *simulation,
                            struct reference_source *source) {
    static struct memory_reference references[REFERENCES_MOST];
    size_t count;
    while ((count = source->next(source, references, REFERENCES_MOST))) {
        while (simulation->counts.count < source->places.count)
            vector_push(&source->arena, &simulation->counts, (struct cache_counts){0});
        for (size_t i = 0; i < count; i++)
            take_reference(simulation, source, &references[i]);
    }
    part_number(out, source->thread_id, 4);
    part_text(out, source->fault);
    if (simulation->orders) {
        part_number(out, source->process, 4);
        part_number(out, source->thread_number, 4);
    }
    while (simulation->counts.count < source->places.count) /* places without references */
        vector_push(&source->arena, &simulation->counts, (struct cache_counts){0});
    if (simulation->objects) {
        write_counts(out, simulation, source->touched.data, source->touched.count);
        source->write_heap(source, out);
    } else {
        write_counts(out, simulation, simulation->used.data, simulation->used.count);
    }
    simulation->used.count = 0;
    if (simulation->orders)
        order_part_write(out, &simulation->order);
    else if (simulation->keeps)
        kept_write(out, &simulation->kept);
    else
        write_simulated(out, simulation);
}

/* ---- the part ---- */

static void write_shape(struct buffer *out, const struct cache_shape *shape) {
    part_number(out, shape->size, 8);
    part_number(out, shape->ways, 8);
    part_number(out, shape->line, 4);
}

static void write_place(struct buffer *out, const struct reference_place *place) {
    part_text(out, place->function);
    part_text(out, place->module);
    part_text(out, place->file);
    part_number(out, place->line, 4);
    part_number(out, place->process, 4);
    part_number(out, place->thread, 4);
    part_number(out, place->identity, 8);
    part_number(out, place->object, 1);
    part_text(out, place->name);
    part_number(out, place->bytes, 8);
    part_number(out, place->blocks, 8);
}

void simulate_cache_part(struct buffer *contents, struct reference_source *source,
                         const struct hierarchy_shape *shape, unsigned processors,
                         enum place_kind kind, struct part_choice part) {
    const struct cache_shape *shapes[CACHES] = {&shape->instruction, &shape->data, &shape->second,
                                                &shape->last};
    struct part_simulation simulation = {.keeps = shape->inclusion != INCLUSION_INDEPENDENT,
                                         .objects = kind == PLACE_OBJECT};
    struct buffer threads = {0};
    source->tells_tickets = simulation.orders = processors != 0;
    if (simulation.orders)
        order_part_begin(&simulation.order, shape, processors, source->threads);
    else if (simulation.keeps)
        kept_begin(&simulation.kept, shape);
    else
        for (int i = 0; i < CACHES; i++)
            part_cache_begin(&simulation.caches[i], *shapes[i]);
    for (size_t thread = 0; thread < source->threads; thread++) {
        source->begin_part(source, thread, part.number - 1, part.count);
        simulation.thread++;
        simulate_thread(&threads, &simulation, source);
    }
    part_begin(contents, source);
    for (int i = 0; i < CACHES; i++) {
        write_shape(contents, shapes[i]);
        part_cache_release(&simulation.caches[i]);
    }
    kept_release(&simulation.kept);
    order_part_release(&simulation.order);
    part_number(contents, shape->inclusion, 4);
    part_number(contents, processors, 4);
    part_number(contents, kind, 4);
    part_number(contents, source->places.count, 8);
    for (size_t i = 0; i < source->places.count; i++)
        write_place(contents, &source->places.data[i]);
    buffer_add(contents, threads.data ? threads.data : "", threads.count);
    buffer_release(&threads);
}
