/* standing.h: stops the threads of a running process for a short time, and finds their
 * instructions. */
#ifndef QUIPU_TRACEE_STANDING_H
#define QUIPU_TRACEE_STANDING_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdint.h>
#include <sys/types.h>

struct standing_thread {
    pid_t thread;
    int signal; /* to be delivered when it continues; 0: none */
};

/* An instruction that a thread will complete next, or once a signal handler has returned. */
struct standing_place {
    pid_t thread;
    uint64_t address;
    uint64_t rcx; /* iterations left, if the instruction repeats; of callers: 0 */
};

struct standing {
    struct arena arena;
    pid_t process;
    VECTOR(struct standing_thread) threads;
    VECTOR(struct standing_place) places;
    VECTOR(struct standing_place)
    callers; /* return addresses of calls, for each thread from the innermost */
};

/* Stops all threads of PROCESS. Returns NULL or a message; in the latter case all threads continue.
 * They also continue if quipu ends meanwhile. */
const char *hold_threads(pid_t process, struct standing *standing);

/* Stops all threads of PROCESS and finds their instructions and callers. Returns as hold_threads
 * does. */
const char *stop_threads(pid_t process, struct standing *standing);

/* Continues the threads. If the process was stopped before, they stay stopped. */
void release_threads(struct standing *standing);

#endif
