/* checkpoint.h: copies of a stopped process, made by having it fork. */
#ifndef QUIPU_TRACEE_CHECKPOINT_H
#define QUIPU_TRACEE_CHECKPOINT_H

#include "tracee/repeat.h"

/* Makes COPY, stopped where FROM stands, which must not be in a system call.  Memory that FROM
 * shares with others is COPY's own.  Returns NULL, or what is wrong; then there is no copy. */
const char *make_copy(struct run *run, const struct repeated *from, struct repeated *copy);

/* Ends it.  Nothing is done where its process is 0. */
void drop_copy(struct repeated *copy);

#endif
