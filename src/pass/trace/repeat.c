/* repeat.c: syncs that tell that their values are those of the last time.
 *
 * Most functions are called again and again from the same depth. So a sync compares the stack
 * pointer, and the 8-byte values that it has, with the last ones, which the thread keeps. If all
 * are equal a shorter sync says so.
 *
 * A function's records have places one after the other, from one on that follows from the
 * function's name. So those that run one after the other are near in memory. Where two functions
 * have the same places, each finds the other's values there, and so does the reader.
 *
 * requires: choose_records, find_narrow_values, find_liveness   makes: repeats, last of records */
#include "pass/trace/trace.h"

#include "format/trace.h"
#include "pass/plan.h"
#include "util/map.h"

#include <string.h>

void choose_repeating(struct planner *p, struct trace_records *trace) {
    const struct graph *graph = p->graph;
    const char *name = function_name(graph->arena, graph->unit, graph->function);
    uint32_t next = hash_text(name, strlen(name));
    for (size_t i = 0; i < trace->records.count; i++) {
        struct trace_record *record = &trace->records.data[i];
        struct trace_code code = code_of_record(p, record);
        struct clobbers clobbers =
            clobbers_at(p, live_at_record(graph, record), false, (struct frame_row){0}, 0);
        record->repeats = trace_record_may_repeat(&code, &clobbers);
        record->last = next % QUIPU_TRACE_LAST_COUNT;
        if (record->repeats)
            next += 1 + (uint32_t)__builtin_popcount(record->registers & ~record->narrow);
    }
}
