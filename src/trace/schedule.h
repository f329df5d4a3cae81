/* schedule.h: the schedule of a trace whose threads ran on one processor: where each of them has
 * left it. format/trace.h, "schedule", has what was recorded. */
#ifndef QUIPU_TRACE_SCHEDULE_H
#define QUIPU_TRACE_SCHEDULE_H

#include "trace/trace.h"

/* Where a thread was when it left the processor, beside the records that it had written. */
enum switch_point {
    SWITCHED_SOMEWHERE,      /* that is not known */
    SWITCHED_AT_INSTRUCTION, /* in front of an instruction of the program */
    SWITCHED_IN_RECORD,      /* in front of its next record, and behind the instructions there */
    SWITCHED_BEHIND_RECORD,  /* behind its last record, and in front of the instructions there */
    SWITCHED_OUTSIDE,        /* in code that is not traced */
};

struct scheduled_switch {
    const struct traced_thread *thread;
    uint64_t time;
    enum quipu_trace_switch_cause cause;
    uint64_t ticket; /* the lowest one that was taken later */
    uint32_t chunk;  /* the number of the one that the thread was filling */
    bool placed;     /* `offset` is known: */
    uint32_t offset; /* where its next record was to be in that chunk; or if it is not placed, a
                        place that was surely behind the switch */
    enum switch_point point;
    const struct traced_module *module; /* of SWITCHED_AT_INSTRUCTION */
    uint64_t address;                   /* ... of that instruction, as linked */
};

struct trace_schedule {
    enum quipu_trace_source source;
    uint32_t processor;
    uint64_t lost;                            /* events that are missing */
    uint64_t others;                          /* switches of threads that have no records */
    VECTOR(struct quipu_trace_switch) taken;  /* as recorded */
    VECTOR(uint64_t) times;                   /* of tickets */
    bool ready;                               /* schedule_prepare has made: */
    VECTOR(struct scheduled_switch) switches; /* of threads of the trace, by time */
};

/* Returns what --format and messages call it. */
const char *schedule_source_name(enum quipu_trace_source source);
const char *switch_cause_name(enum quipu_trace_switch_cause cause);

/* Adds a block of QUIPU_TRACE_SCHEDULE or QUIPU_TRACE_TIMES with its CONTENTS. Returns false if it
 * is corrupt. */
bool schedule_add(struct trace *trace, const struct quipu_trace_chunk *chunk,
                  const uint8_t *contents, size_t size);

/* Finds out where in the threads' records the switches are, if this has not been done. All blocks
 * must have been added. */
void schedule_prepare(struct trace *trace);

#endif
