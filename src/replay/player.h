/* player.h: repeats a recorded run, without what was outside of it.
 *
 * The program's binary is executed again. Its system calls are not made: it gets their results and
 * what they wrote from the recording. Only those that change its own memory's layout are made. */
#ifndef QUIPU_REPLAY_PLAYER_H
#define QUIPU_REPLAY_PLAYER_H

#include "util/arena.h"

#include <stdint.h>

enum played {
    PLAYED_END,     /* the program has ended; `status`, of wait */
    PLAYED_CUT,     /* the recording was cut: it has no more */
    PLAYED_STOPPED, /* the recording ended while the program went on; `message` says why */
    PLAYED_DIFFERS, /* the run is another one; `message` says where */
    PLAYED_WRONG    /* it cannot be played, or no further; `message` says why, or is "" if it was
                     * already printed */
};

struct playing {
    int status;
    uint64_t calls, signals; /* that were repeated */
    const char *message;     /* in the arena */
};

/* Plays the recording at PATH. What the program writes to standard output and standard error goes
 * there. */
enum played play_recording(struct arena *arena, const char *path, struct playing *playing);

#endif
