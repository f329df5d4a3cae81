/* checkpoint.h: copies of a stopped process, made by having it fork. */
#ifndef QUIPU_TRACEE_CHECKPOINT_H
#define QUIPU_TRACEE_CHECKPOINT_H

#include "tracee/repeat.h"

/* Makes COPY, a process that is stopped at the same instruction as FROM. FROM must not be in a
 * system call. Memory that FROM shares with others is private in COPY. Returns NULL, or a message;
 * then there is no copy. */
const char *make_copy(struct run *run, const struct repeated *from, struct repeated *copy);

/* Kills the process of COPY. Does nothing if its number is 0. */
void drop_copy(struct repeated *copy);

#endif
