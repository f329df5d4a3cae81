/* between.h: what a thread executed between two moments ('--from', '--to').
 *
 * A moment is in front of an instruction: the one at the first moment is given, the one at the
 * second is not. */
#ifndef QUIPU_TRACE_BETWEEN_H
#define QUIPU_TRACE_BETWEEN_H

#include "symbols/binary.h"
#include "trace/trace.h"

/* Where a moment may be. Its name may tell an address in inserted code: then it is at the program's
 * next instruction, which may be behind an edge that ticks. */
struct bound_place {
    uint64_t address; /* of the instruction, as linked */
    uint64_t ticks;   /* in front of the instruction */
};

/* One of the moments. */
struct trace_bound {
    const char *name;             /* as it was given; NULL: the begin of the run, or its end */
    struct traced_module *module; /* whose ticks it counts */
    VECTOR(struct bound_place) places;
    uint64_t ticks;
    uint32_t thread; /* its number in the names of moments */
    bool seen;       /* a walk has come there */
};

struct trace_between {
    struct trace_bound from, to;
};

/* Makes TRACE give only what is between the moments FROM and TO, each a name
 * (symbols/moment_name.h) or NULL. Returns NULL; or an error message, in the trace's arena: TRACE
 * has no such moments. */
const char *trace_set_between(struct trace *trace, const char *from, const char *to);

/* The same for the moments that TRACE was recorded with, if there are any. */
const char *trace_set_between_of_window(struct trace *trace);

/* Whether both moments are of one thread. */
bool between_is_of_one_thread(const struct trace_between *between);

/* Whether the moments are of THREAD. */
bool between_has_thread(struct trace *trace, const struct traced_thread *thread);

/* Sets COUNTER to that of THREAD's chunk INDEX in the moment's module. Returns false if it has
 * none.
 */
bool bound_counter(const struct trace_bound *bound, const struct traced_thread *thread,
                   size_t index, struct quipu_trace_counter *counter);

/* How far a reader is. */
enum between_state {
    BETWEEN_BEFORE,
    BETWEEN_INSIDE,
    BETWEEN_BEHIND,
};

/* Takes STEP, the next one. Sets STATE. Returns whether STEP is between the moments. The gap in
 * front of the first step is removed: it ran before the moment. */
bool between_takes(struct trace_between *between, struct trace_step *step,
                   enum between_state *state);

/* Returns NULL if readers have come to both moments, or else a message, in the trace's arena. */
const char *between_missed(struct trace *trace);

#endif
