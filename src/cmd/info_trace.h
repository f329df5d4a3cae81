/* info_trace.h: the part of quipu info that describes traces. */
#ifndef QUIPU_CMD_INFO_TRACE_H
#define QUIPU_CMD_INFO_TRACE_H

#include "cmd/info_schedule.h"
#include "report/json_writer.h"
#include "trace/trace.h"

#include <stdio.h>

/* Sums over what a thread has executed. */
struct thread_sums {
    const struct traced_thread *thread;
    uint64_t instructions, reads, writes; /* of references */
    uint64_t read_bytes, written_bytes;
    struct record_sums records;
    uint64_t gaps;     /* parts of the run that are not traced */
    const char *fault; /* why it ends early; NULL: it does not */
};

/* How often code ran that is not traced. */
struct gap_sum {
    const char *name;
    uint64_t count;
};

struct trace_facts {
    struct trace *trace;
    VECTOR(struct gap_sum) gaps; /* from high to low counts */
    VECTOR(struct thread_sums) threads;
    struct schedule_sums schedule;
};

typedef VECTOR(struct trace_facts) trace_list;

/* Reads those of the COUNT files at PATHS that are traces, from begin to end. All is in ARENA. Ends
 * the program with an error if a trace cannot be opened. */
trace_list look_at_traces(struct arena *arena, char **paths, size_t count);

void write_text_trace(FILE *out, const struct trace_facts *facts);
void write_json_trace(struct json_writer *json, const struct trace_facts *facts);

/* Write what the functions of the BINARY at PATH record that were built for traces. In text this is
 * nothing if there are none. Corrupt notes end the program with an error. */
void write_text_recorded(FILE *out, struct arena *arena, const char *path, struct binary *binary);
void write_json_recorded(struct json_writer *json, struct arena *arena, const char *path,
                         struct binary *binary);

#endif
