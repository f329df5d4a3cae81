/* held_thread.h: one thread of a process, under control while the others run.
 *
 * tracee.h controls a whole program from its start, stopped.h stops all threads of a process. This
 * is for a thread that waits for quipu's answer, and for a program in front of its start. */
#ifndef QUIPU_TRACEE_HELD_THREAD_H
#define QUIPU_TRACEE_HELD_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum held_state {
    HELD_STOPPED, /* it is stopped */
    HELD_RUNS,    /* it runs, and is released */
    HELD_ENDED    /* it has ended; its status is that of wait */
};

/* Traces THREAD, which runs on. Returns false, with errno set, if that is not possible, for example
 * because a debugger traces it. */
bool hold_thread(pid_t thread);

/* Stops the held THREAD. STATUS becomes that of wait. HELD_RUNS: it cannot be waited for. */
enum held_state stop_held_thread(pid_t thread, int *status);

/* Releases THREAD, which has stopped with STATUS; a signal that stopped it is delivered. */
void release_held_thread(pid_t thread, int status);

/* The held THREAD of PROCESS has been told to raise SIGTRAP. Stops its process there, released, as
 * SIGSTOP does. HELD_RUNS: it blocks the signal. */
enum held_state stop_process_at_trap(pid_t process, pid_t thread, int *status);

/* Continues PROCESS, whose only thread is traced and stopped, until it is in front of the
 * instruction at ADDRESS. Returns whether it got there. */
bool run_process_to(pid_t process, uint64_t address);

/* waitpid for THREAD, again whenever a signal interrupts it: a thread that is stopped and not
 * waited for would never continue. */
pid_t wait_for_thread(pid_t thread, int options, int *status);

#endif
