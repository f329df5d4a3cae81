/* attach.h: a program that runs already, and was built for it, is given the watch file
 * (format/watch.h, section 3). */
#ifndef QUIPU_WATCH_ATTACH_H
#define QUIPU_WATCH_ATTACH_H

#include "format/watch.h"
#include "util/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads what the modules of PROCESS share.  Returns NULL, or what is wrong. */
const char *read_home(struct arena *arena, pid_t process, struct quipu_watch_home *home);

/* The process that reads hits of PROCESS; 0: none. */
pid_t find_consumer(pid_t process, const struct quipu_watch_home *home);

/* Has PROCESS map the file at PATH, and look at its requests; all its threads stand meanwhile, and
 * first PREPARE is called with CONTEXT, if it is not NULL.  Returns NULL, or what is wrong. */
const char *attach_file(struct arena *arena, pid_t process, const char *path,
                        void prepare(void *context), void *context);

/* Has PROCESS remove the regions that were requested.  It may have ended, or become another
 * program. Returns NULL, or what is wrong: then regions are still there. */
const char *detach_file(struct arena *arena, pid_t process);

#endif
