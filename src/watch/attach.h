/* attach.h: gives the watch file to a running, instrumented program (format/watch.h, section 3). */
#ifndef QUIPU_WATCH_ATTACH_H
#define QUIPU_WATCH_ATTACH_H

#include "format/watch.h"
#include "util/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads the data that the modules of PROCESS share. Returns NULL or an error message. */
const char *read_area(struct arena *arena, pid_t process, struct quipu_watch_area *area);

/* Returns the process that reads the hits of PROCESS, or 0. */
pid_t find_consumer(pid_t process, const struct quipu_watch_area *area);

/* Makes PROCESS map the file at PATH and read its requests. All its threads are stopped meanwhile.
 * PREPARE, if it is not NULL, is called with CONTEXT first. Returns NULL or an error message. */
const char *attach_file(struct arena *arena, pid_t process, const char *path,
                        void prepare(void *context), void *context);

/* Makes PROCESS remove the requested regions. It may have ended, or executed another program.
 * Returns NULL, or an error message if the regions are still there. */
const char *detach_file(struct arena *arena, pid_t process);

#endif
