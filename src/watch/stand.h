/* stand.h: a process that stands where one of its threads has written. */
#ifndef QUIPU_WATCH_STAND_H
#define QUIPU_WATCH_STAND_H

#include <stdbool.h>
#include <sys/types.h>

/* Takes hold of THREAD, which waits for an answer.  Returns false where that cannot be, as where a
 * debugger has hold of it. */
bool hold_thread(pid_t thread);

enum standing {
    THREAD_STANDS, /* its process is stopped, it is right behind the write, and nobody holds it */
    THREAD_RUNS,   /* without the signal, which it blocks */
    THREAD_ENDED,
};

/* The THREAD of PROCESS that is held has been told to raise SIGTRAP: has it stand there.  *STATUS
 * is as of wait where it has ended. */
enum standing stand_at_trap(pid_t process, pid_t thread, int *status);

#endif
