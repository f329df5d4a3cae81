/* process.h: running another program and waiting for it; other processes. */
#ifndef QUIPU_UTIL_PROCESS_H
#define QUIPU_UTIL_PROCESS_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Runs ARGV, found in PATH, with INPUT as its standard input (NULL: ours), and, where QUIET, its
 * standard output and error thrown away.  Returns its exit status, 128 + signal, or 127 with a
 * message where it cannot be started. */
int run_program(char *const *argv, const void *input, size_t input_size, bool quiet);

/* The same with standard error added to MESSAGES; standard output goes to nowhere where QUIET. */
int run_program_heard(char *const *argv, const void *input, size_t input_size, bool quiet,
                      struct buffer *messages);

/* Whether THREAD of PROCESS has ended, and only its number is left, or not even that. */
bool has_ended(pid_t process, pid_t thread);

/* Makes an empty file for the time being, named PREFIX and something random, in $TMPDIR or /tmp.
 * Returns its path, to be freed, or NULL with errno set. */
char *make_temporary(const char *prefix);

/* The same in DIRECTORY. */
char *make_temporary_in(const char *directory, const char *prefix);

#endif
