/* on_stop.h: what is run on a program that stands at a moment. */
#ifndef QUIPU_CMD_ON_STOP_H
#define QUIPU_CMD_ON_STOP_H

#include "util/arena.h"

#include <stdbool.h>
#include <sys/types.h>

#define EXEC_HELP                                                                                  \
    "      --exec=COMMAND  run COMMAND by the shell there; QUIPU_PID and QUIPU_THREAD name\n"      \
    "                      process and thread; the program then ends\n"

/* Runs COMMAND by the shell, on PROCESS that stands with THREAD at the moment, and of which no
 * debugger has hold.  The keys that interrupt are the command's.  Returns its status, 128 + the
 * signal that has ended it, or 1 with a message. */
int run_on_stop(const char *command, pid_t process, pid_t thread);

/* Starts COMMAND so, and does not wait for it.  Returns its process; 0, with an error, where there
 * is none. */
pid_t start_on_stop(const char *command, pid_t process, pid_t thread);

/* Whether there is a terminal, and gdb. */
bool can_run_gdb(void);

/* The command that is gdb, with THREAD chosen.  Attaching sends a SIGSTOP, which a process that is
 * stopped already keeps for each thread until that runs: gdb is told to drop them, or the first
 * 'stepi', and one more command for each other thread, would end where it began.  Where the program
 * ENDS with gdb, gdb kills it, for it would detach and the program run on until we do.  Lives in
 * ARENA. */
const char *gdb_on_stop(struct arena *arena, pid_t process, pid_t thread, bool ends);

#endif
