/* export.h: writes a trace in the formats of other tools.
 *
 * A format is a function and a row in export.c. */
#ifndef QUIPU_TRACE_EXPORT_H
#define QUIPU_TRACE_EXPORT_H

#include "trace/trace.h"

#include <stdio.h>

/* Writes THREAD's part of TRACE to OUT. Returns why its records could not be followed to their end,
 * or NULL. Errors of OUT stay in it, and end the work early: the caller tests ferror. */
typedef const char *trace_export_function(struct trace *trace, const struct traced_thread *thread,
                                          FILE *out);

struct trace_export {
    const char *name; /* as in --to=NAME */
    const char *help; /* one line */
    trace_export_function *write;
    bool one_thread; /* its readers take a file for one thread */
    bool binary;     /* a terminal does not get it */
};

extern const struct trace_export trace_exports[];
extern const size_t trace_export_count;

/* Returns the format with that NAME, or NULL. */
const struct trace_export *find_trace_export(const char *name);

trace_export_function export_lackey, export_din, export_champsim, export_trace_json;

#endif
