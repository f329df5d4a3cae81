/* standing.h: the threads of a running process, stopped for a moment, and where they stand. */
#ifndef QUIPU_TRACEE_STANDING_H
#define QUIPU_TRACEE_STANDING_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdint.h>
#include <sys/types.h>

struct standing_thread {
    pid_t thread;
    int signal; /* that it was about to get and will get when it goes on; 0: none */
};

/* An instruction that a thread will complete next, or will once a signal handler has returned. */
struct standing_place {
    pid_t thread;
    uint64_t address;
    uint64_t rcx; /* which counts the turns of an instruction that repeats; of callers: 0 */
};

struct standing {
    struct arena arena;
    pid_t process;
    VECTOR(struct standing_thread) threads;
    VECTOR(struct standing_place) places;
    VECTOR(struct standing_place)
    callers; /* where calls return to, of each thread innermost first */
};

/* Stops all threads of PROCESS.  Returns NULL, or what is wrong; then all go on.  Should this
 * program end meanwhile, they go on too. */
const char *hold_threads(pid_t process, struct standing *standing);

/* Stops all threads of PROCESS and finds their places.  Returns in the
 * same way. */
const char *stop_threads(pid_t process, struct standing *standing);

/* Lets them go on; those of a process that was stopped before stay so. */
void release_threads(struct standing *standing);

#endif
