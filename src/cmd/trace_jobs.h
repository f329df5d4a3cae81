/* trace_jobs.h: writes the threads of a trace by several processes (--jobs), each of which
 * regenerates parts of them. */
#ifndef QUIPU_CMD_TRACE_JOBS_H
#define QUIPU_CMD_TRACE_JOBS_H

#include "trace/trace.h"

#include <stdio.h>

/* A part of a thread that one process writes. */
struct trace_task {
    struct trace *trace; /* trace_begin begins with the part */
    const struct traced_thread *thread;
    bool begins_output; /* nothing is in front of it */
    bool begins_thread; /* nothing of the thread is */
};

/* Writes a part to OUT, in a child. Returns why the records of the thread could not be followed to
 * the end of the part, or NULL. */
typedef const char *write_trace_task(void *context, const struct trace_task *task, FILE *out);

/* Writes THREADS of TRACE, which end with NULL, to OUT, in their order, by JOBS processes at a
 * time. Returns 0; or 1 if the records of a thread could not be followed, which was reported. Ends
 * early if OUT has an error. */
int write_by_jobs(unsigned jobs, struct trace *trace, const struct traced_thread **threads,
                  FILE *out, write_trace_task *write, void *context);

#endif
