/* approach.h: runs a program up to a moment. */
#ifndef QUIPU_MOMENT_APPROACH_H
#define QUIPU_MOMENT_APPROACH_H

#include "symbols/moment_name.h"
#include "tracee/tracee.h"

/* Where the run has been stopped. */
struct arrival {
    pid_t thread;     /* the moment's thread; it and all others are stopped */
    uint64_t address; /* as linked */
    uint64_t ticks;
    uint64_t bias;         /* load address of its binary minus the linked address */
    struct binary *binary; /* the program, or a shared object, which the caller closes; may also be
                              set if the moment was not reached */
};

/* Returns NULL, or a message if runs of BINARY cannot be stopped at moments. */
const char *check_program(const struct binary *binary);

/* Runs ARGV, whose program is PROGRAM, to the moment NAME, at one of PLACES. PLACES is empty if the
 * moment is of another build than PROGRAM. Then it may be of a shared object, and the run waits
 * until that is loaded.
 *
 * Returns NULL, or a message in ARENA that says why the moment was not reached, or "" if it was
 * already printed. After an error no process of the run is left. */
const char *approach(struct arena *arena, struct binary *program, const struct moment_name *name,
                     const address_list *places, char **argv, struct tracee *tracee,
                     struct arrival *arrival);

#endif
