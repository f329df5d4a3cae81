/* recorder.h: runs a program and records all that comes to it, and to what it makes, from outside.
 *
 * A thread is stopped in front of and behind system calls (ptrace), but for those that are
 * frequent, and recorded inside of the program. */
#ifndef QUIPU_REPLAY_RECORDER_H
#define QUIPU_REPLAY_RECORDER_H

#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a guard knows of the recorder, which is another process. */
struct record_note {
    volatile pid_t first; /* number of the first process; 0: none yet */
    volatile bool has_ended;
};

struct record_request {
    char **argv;
    const char *path; /* of the recording */
    bool shuffle;     /* turns of threads are random, by `seed` */
    uint64_t seed;
    bool stops;               /* at each system call: none is made inside of the program */
    struct record_note *note; /* not NULL: the program goes on if the recorder is killed */
    double last; /* at least so many seconds of the end are kept; 0: all of the run is */
};

/* Runs the program, and writes the recording. Returns when all processes have ended
 * that the program has made. Sets STATUS to the first one's status, of wait. Returns NULL, or a
 * message, or "" if the message was already printed; then the program was not run. What cannot be
 * recorded ends the recording of a process with a warning, and the process goes on. */
const char *record_program(struct arena *arena, const struct record_request *request, int *status);

/* Makes the recorder of PROCESS, or that is PROCESS, write what it has recorded up to now to the
 * file at PATH, and go on. Returns NULL, or a message in ARENA. */
const char *keep_recording(struct arena *arena, pid_t process, const char *path);

#endif
