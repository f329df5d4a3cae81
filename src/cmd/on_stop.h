/* on_stop.h: runs a command on a program that is stopped at a moment. */
#ifndef QUIPU_CMD_ON_STOP_H
#define QUIPU_CMD_ON_STOP_H

#include "util/arena.h"

#include <stdbool.h>
#include <sys/types.h>

#define EXEC_HELP                                                                                  \
    "      --exec=COMMAND  run COMMAND by the shell there; QUIPU_PID and QUIPU_THREAD name\n"      \
    "                      process and thread; the program then ends\n"

/* Runs COMMAND by the shell. PROCESS is stopped, with THREAD at the moment, and no debugger traces
 * it. Interrupts by the keyboard reach only the command. Returns its exit status, 128 + the signal
 * that ended it, or 1, with a message, if it cannot be run. */
int run_on_stop(const char *command, pid_t process, pid_t thread);

/* Starts COMMAND in the same way, and does not wait for it. Returns its process, or 0, with an
 * error message, if it cannot be started. */
pid_t start_on_stop(const char *command, pid_t process, pid_t thread);

/* Whether standard input and output are a terminal, and gdb is installed. */
bool can_run_gdb(void);

/* Returns the command that runs gdb with THREAD chosen, in ARENA.
 *
 * When gdb attaches, it sends a SIGSTOP. A process that is stopped already keeps one for each
 * thread until that thread runs. So the command makes gdb drop these signals. Otherwise the first
 * 'stepi', and one more command for each other thread, would end where it began.
 *
 * ENDS: the program ends with gdb. Then gdb kills it. Otherwise gdb would detach, and the program
 * would run until quipu kills it. */
const char *gdb_on_stop(struct arena *arena, pid_t process, pid_t thread, bool ends);

#endif
