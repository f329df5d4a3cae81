/* retrace.h: the trace of a recorded run.
 *
 * The player repeats the run with the sites of traces armed (tracee/trace_sites.h). So the
 * program's own code writes the records, into memory that quipu has mapped for that; and quipu does
 * what the runtime does while a program is traced directly: it makes room, and tells of threads,
 * modules and signals. Nothing of the recorded run was slowed by that. */
#ifndef QUIPU_RETRACE_RETRACE_H
#define QUIPU_RETRACE_RETRACE_H

#include "replay/player.h"
#include "trace/sink.h"

struct retrace_options {
    const char *recording; /* its path */
    struct trace_sink *sink;
    uint32_t start_every; /* of so many chunks of a thread, one has a start */
};

/* Plays the recording, and adds its trace to the sink. Sets PLAYING to how it ended. What the
 * program writes to standard output and standard error goes there. Returns NULL, or a message in
 * ARENA. */
const char *retrace(struct arena *arena, const struct retrace_options *options,
                    struct playing *playing);

#endif
