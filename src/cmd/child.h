/* child.h: a user's program as a child of quipu, which ends as the program does. */
#ifndef QUIPU_CMD_CHILD_H
#define QUIPU_CMD_CHILD_H

#include <signal.h>
#include <sys/types.h>

/* Starts the program ARGV with MASK as its signal mask. Ends quipu with an error if it cannot make
 * a process. */
pid_t child_begin(char *const *argv, const sigset_t *mask);

/* Returns the exit status for the program's STATUS, of waitpid. If a signal has ended it, that ends
 * quipu, too, with MASK as its signal mask. */
int child_end(int status, const sigset_t *mask);

#endif
