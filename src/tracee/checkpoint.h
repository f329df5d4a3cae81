/* checkpoint.h: copies of a stopped process, made by having it fork.
 *
 * There may be any number of them, and copies of copies. */
#ifndef QUIPU_TRACEE_CHECKPOINT_H
#define QUIPU_TRACEE_CHECKPOINT_H

#include "util/arena.h"

#include <stdint.h>
#include <sys/types.h>

/* Makes COPY, a traced process that is stopped at the same instruction as PROCESS, which is the
 * number of a thread that is not in a system call. It has a copy of that thread alone. SITE is the
 * address of an instruction in it that makes a system call. Memory that PROCESS shares with others
 * is private in COPY. Returns NULL, or a message in ARENA; then COPY is 0. */
const char *copy_process(struct arena *arena, pid_t process, uint64_t site, pid_t *copy);

/* Kills the process that has the thread COPY, and sets it to 0. Does nothing if it is 0. */
void drop_process(pid_t *copy);

#endif
