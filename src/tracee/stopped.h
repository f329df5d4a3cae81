/* stopped.h: stops the threads of a running process for a short time, and finds their
 * instructions. */
#ifndef QUIPU_TRACEE_STOPPED_H
#define QUIPU_TRACEE_STOPPED_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdint.h>
#include <sys/types.h>

struct stopped_thread {
    pid_t thread;
    int signal; /* to be delivered when it continues; 0: none */
};

/* An instruction that a thread will complete next, or once a signal handler has returned. */
struct pending_instruction {
    pid_t thread;
    uint64_t address;
    uint64_t rcx; /* iterations left, if the instruction repeats; of callers: 0 */
};

struct stopped_process {
    struct arena arena;
    pid_t process;
    VECTOR(struct stopped_thread) threads;
    VECTOR(struct pending_instruction) pending;
    VECTOR(struct pending_instruction)
    callers; /* return addresses of calls, for each thread from the innermost */
};

/* Stops all threads of PROCESS. Returns NULL or a message; in the latter case all threads continue.
 * They also continue if quipu ends meanwhile. */
const char *stop_threads(pid_t process, struct stopped_process *stopped);

/* Stops all threads of PROCESS and finds their instructions and callers. Returns as stop_threads
 * does. */
const char *stop_and_unwind(pid_t process, struct stopped_process *stopped);

/* Continues the threads. If the process was stopped before, they stay stopped. */
void release_threads(struct stopped_process *stopped);

#endif
