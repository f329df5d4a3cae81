/* export_trace.h: the part of quipu export that is for traces. */
#ifndef QUIPU_CMD_EXPORT_TRACE_H
#define QUIPU_CMD_EXPORT_TRACE_H

#include "cmd/trace_input.h"
#include "trace/export.h"

/* Writes what SELECTION selects of the trace at PATH to the file OUTPUT, in the format that --to=TO
 * means, by JOBS processes; 0 or 1: this one. Returns the exit status. Ends the program with an
 * error if it cannot. */
int export_trace(const char *path, const char *to, struct trace_selection selection, unsigned jobs,
                 const char *output);

#endif
