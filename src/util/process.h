/* process.h: runs programs and waits for them; looks at other processes. */
#ifndef QUIPU_UTIL_PROCESS_H
#define QUIPU_UTIL_PROCESS_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Runs ARGV, which is found in PATH, with INPUT as its standard input; NULL: quipu's own. With
 * QUIET, standard output and standard error are discarded. Returns the exit status, or 128 + the
 * signal that ended it, or 127, with a message, if it cannot be started. */
int run_program(char *const *argv, const void *input, size_t input_size, bool quiet);

/* The same, but standard error is added to MESSAGES. With QUIET, standard output is discarded. */
int run_program_heard(char *const *argv, const void *input, size_t input_size, bool quiet,
                      struct buffer *messages);

/* Makes the kernel keep the exit status of children. It does not if quipu was started with SIGCHLD
 * ignored, as by some build systems; then nothing could wait for a compiler. */
void keep_child_statuses(void);

/* For a child that is about to execute the user's program: ignores SIGCHLD again if it was ignored.
 */
void restore_child_statuses(void);

/* Replaces this process by the user's program ARGV, which is found in PATH. Returns only if that
 * fails, with a message: the exit status as in shells, 127 if there is no such program, 126 if it
 * cannot be run. */
int execute_program(char *const *argv);

/* Whether THREAD of PROCESS has ended. Its number may still exist. */
bool has_ended(pid_t process, pid_t thread);

/* Whether a thread waits for something, such as a lock, another thread, or input. */
bool is_asleep(pid_t process, pid_t thread);

/* Makes an empty temporary file, named PREFIX and random letters, in $TMPDIR or /tmp. Returns its
 * path, which the caller frees, or NULL with errno set. */
char *make_temporary(const char *prefix);

/* The same in DIRECTORY. */
char *make_temporary_in(const char *directory, const char *prefix);

/* Makes an empty temporary directory, likewise. */
char *make_temporary_directory(const char *prefix);

#endif
