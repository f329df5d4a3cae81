/* trim.h: takes out of a trace file what is behind the first instructions of each thread. */
#ifndef QUIPU_TRACE_TRIM_H
#define QUIPU_TRACE_TRIM_H

#include <stdbool.h>

/* Leaves out of the trace at PATH the chunks that are behind those instructions which its window
 * (--first) gives. Returns false, and leaves the file as it is, if that cannot be: it is no regular
 * file, its binaries are gone, or there is no room for a second one. */
bool trim_trace(const char *path);

#endif
