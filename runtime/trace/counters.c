/* counters.c: tells of the software instruction counters of threads that record, so that moments
 * are found in the trace (struct quipu_trace_counter, format/trace.h).
 *
 * Each module that was built with --quipu=moment has a counter of its own, and numbers its threads
 * by itself. A chunk has the counters of all modules in which its thread has counted so far.
 *
 * Not perfect: where a chunk has QUIPU_TRACE_COUNTERS_MOST counters, further modules are left out.
 */
#include "runtime/core/note.h"
#include "runtime/trace/trace.h"

/* Returns the place of the chunk's counter number INDEX. */
static struct quipu_trace_counter *counter_at(struct quipu_trace_chunk *chunk, uint32_t index) {
    return (struct quipu_trace_counter *)(void *)records_of(chunk) - 1 - index;
}

/* Returns the chunk's counter of the module with BIAS, or NULL. */
static struct quipu_trace_counter *find_counter(struct quipu_trace_chunk *chunk, uint64_t bias) {
    for (uint32_t i = 0; i < chunk->counters; i++)
        if (counter_at(chunk, i)->bias == bias)
            return counter_at(chunk, i);
    return NULL;
}

void quipu_trace_add_counter(struct quipu_trace_chunk *chunk, struct quipu_trace_counter counter) {
    if (chunk->counters == QUIPU_TRACE_COUNTERS_MOST || find_counter(chunk, counter.bias))
        return;
    *counter_at(chunk, chunk->counters) = counter;
    __atomic_store_n(&chunk->counters, chunk->counters + 1, __ATOMIC_RELEASE);
}

struct visit {
    const struct trace *trace;
    struct quipu_trace_chunk *chunk;
    bool ends; /* the chunk does */
};

static int visit_module(struct dl_phdr_info *info, size_t size, void *data) {
    const struct visit *visit = data;
    const struct quipu_state *state = NULL;
    struct quipu_trace_counter now = {.bias = info->dlpi_addr};
    (void)size;
    if (!find_note(info, quipu_use_state, &state) || state->trace != visit->trace ||
        !state->counter || !state->counter(&now.begin, &now.thread))
        return 0;
    struct quipu_trace_counter *known = find_counter(visit->chunk, now.bias);
    if (known && visit->ends)
        known->end = now.begin;
    else if (!visit->ends)
        quipu_trace_add_counter(visit->chunk, now);
    return 0;
}

void quipu_trace_begin_counters(const struct trace *trace, struct quipu_trace_chunk *chunk) {
    chunk->counters = 0;
    if (trace->counts)
        visit_modules(visit_module, &(struct visit){trace, chunk, false});
}

void quipu_trace_end_counters(const struct trace *trace, struct quipu_trace_chunk *chunk) {
    if (chunk->counters)
        visit_modules(visit_module, &(struct visit){trace, chunk, true});
}
