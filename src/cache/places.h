/* places.h: the numbers of a trace's functions, lines or threads, in the order of their first
 * references. */
#ifndef QUIPU_CACHE_PLACES_H
#define QUIPU_CACHE_PLACES_H

#include "cache/number_table.h"
#include "cache/source.h"
#include "trace/trace.h"
#include "util/map.h"

struct place_numbers {
    enum place_kind kind;
    struct number_table
        known;          /* 1 + number, by the function's, instruction's or thread's pointer */
    struct map lines;   /* by "file:line", or by the function's name where it has no lines */
    const void *recent; /* the pointer that was looked up last */
    uint32_t recent_number;
};

/* Returns the place's number for STEP of THREAD. Adds it to SOURCE if it is new. */
uint32_t number_place(struct place_numbers *numbers, struct reference_source *source,
                      const struct traced_thread *thread, const struct trace_step *step);

void place_numbers_release(struct place_numbers *numbers);

#endif
