/* approach.h: the run of a program up to a moment. */
#ifndef QUIPU_MOMENT_APPROACH_H
#define QUIPU_MOMENT_APPROACH_H

#include "moment/name.h"
#include "tracee/tracee.h"

/* Where the run stands. */
struct arrival {
    pid_t thread;     /* that the moment is of; it stands, and so do all others */
    uint64_t address; /* as linked */
    uint64_t ticks;
    uint64_t bias;         /* where its binary was loaded, minus where it was linked */
    struct binary *binary; /* the program, or a shared object that is the caller's to close; may be
                              set where the moment was not reached */
};

/* Returns NULL, or why no moment can be gone to in runs of BINARY. */
const char *check_program(const struct binary *binary);

/* Runs ARGV, whose program is PROGRAM, to the moment NAME, at one of PLACES; there is none of these
 * where the moment is of another build than PROGRAM: then the shared object that it may be of is
 * waited for.  Returns NULL, or why it was not reached, in ARENA, "" where that was said; then
 * nothing of it runs any more. */
const char *approach(struct arena *arena, struct binary *program, const struct moment_name *name,
                     const address_list *places, char **argv, struct tracee *tracee,
                     struct arrival *arrival);

#endif
