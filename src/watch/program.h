/* program.h: the program that is watched. */
#ifndef QUIPU_WATCH_PROGRAM_H
#define QUIPU_WATCH_PROGRAM_H

#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct program {
    uint64_t entry; /* as linked */
    pid_t process;
    bool ended;
    int status;      /* as of wait, where it has ended; 0 where it is not ours */
    bool is_other;   /* it ran already */
    int handle;      /* then: tells that it has ended */
    bool is_refused; /* its threads cannot be stopped, and that was told */
};

/* Starts ARGV, whose watch file is at PATH.  The keys that interrupt are the program's; SIGTERM and
 * SIGHUP that we get are handed on.  Where STOP is not 0 the program then stands there, an address
 * as linked, traced.  Returns NULL, or what is wrong, in ARENA. */
const char *start_program(struct arena *arena, struct program *program, const char *file,
                          char **argv, const char *path, uint64_t stop);

/* Takes the process PROCESS, which runs already.  What would end us asks us to leave it from now
 * on. Returns NULL, or what is wrong. */
const char *take_program(struct program *program, pid_t process);

/* Whether we were asked to leave it. */
bool is_leaving(void);

/* Lets go of a program that stands. */
void release_program(const struct program *program);

/* Whether it has ended. */
bool look_at_program(struct program *program);

/* Appends the calls that THREAD, which does not stand, is in to TEXT, from the function on that
 * ADDRESS is in.  UNWINDER is of its process; NULL: there is none. */
struct buffer;
struct unwinder;
void add_calls(struct program *program, struct unwinder *unwinder, struct buffer *text,
               pid_t thread, uint64_t address);

#endif
