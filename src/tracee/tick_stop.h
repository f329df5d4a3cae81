/* tick_stop.h: stops a thread at an exact tick.
 *
 * Mellor-Crummey and LeBlanc 1989, section 3: where an asynchronous event comes in has a name, the
 * instruction and the software instruction counter, and a countdown reaches it again. Here that is
 * an addition of ticks: the thread has executed it, and nothing behind it. No memory of the program
 * shows that it was stopped there, but how its count is divided among cells and base.
 *
 * Only in executables, and not in those that use quipu_after: its countdowns are the program's. */
#ifndef QUIPU_TRACEE_TICK_STOP_H
#define QUIPU_TRACEE_TICK_STOP_H

#include "format/event.h"
#include "symbols/binary.h"
#include "tracee/tests.h"

#include <sys/types.h>

/* The additions of the program that a process executes. */
struct tick_code {
    struct arena arena;
    struct binary *binary;
    uint64_t bias;                     /* its load address minus that of `binary` */
    uint64_t cells;                    /* address of the cells of events that are linked in it */
    test_list tests;                   /* sorted by code */
    uint64_t most;                     /* that one of them adds */
    uint64_t recent[QUIPU_MANY_LANES]; /* recent ticks of each cell */
};

/* A place where a thread can be stopped. */
struct tick_place {
    uint64_t count;   /* of the thread's cells and their base */
    uint64_t address; /* of the next instruction, which is that behind an addition */
    uint64_t last; /* of the instruction in front, in the code out of line; tick_stop_reached sets
                    * it */
};

/* A thread on its way to a stop. */
struct tick_stop {
    uint64_t block; /* address of its cells; 0: it is not on its way */
    uint64_t mask;  /* the signals that it blocks */
    uint64_t former[QUIPU_MANY_LANES], shares[QUIPU_MANY_LANES]; /* cells, before and meanwhile */
};

/* Reads the additions of the program that PROCESS executes. Returns NULL if it has none at which it
 * can be stopped. The caller frees them with tick_code_close. */
struct tick_code *tick_code_open(pid_t process);
void tick_code_close(struct tick_code *code);

/* Makes the additions of PROCESS stop its threads when their cells end. No thread of it runs. What
 * it forks has that, too. Returns false if its text cannot be written. */
bool tick_code_arm(const struct tick_code *code, pid_t process);
/* Undoes that. */
void tick_code_disarm(const struct tick_code *code, pid_t process);

/* Makes THREAD stop at one of its next additions, at most DISTANCE ticks from here; with a distance
 * that is less than one of them adds, at the next one. If it stops for another reason before, call
 * tick_stop_end. Returns false if it has no cells. */
bool tick_stop_begin(const struct tick_code *code, struct tick_stop *stop, pid_t thread,
                     uint64_t distance);

/* Sets COUNT to the count of THREAD. Returns false if it has none. */
bool tick_count(const struct tick_code *code, pid_t thread, uint64_t *count);

/* Whether THREAD is one instruction in front of PLACE: it has executed the addition, and not yet
 * the jump behind that. */
bool tick_is_before(const struct tick_code *code, pid_t thread, const struct tick_place *place);

/* Whether THREAD is at PLACE. */
bool tick_is_at(const struct tick_code *code, pid_t thread, const struct tick_place *place);

/* Whether THREAD, which has got SIGTRAP, is stopped at an addition. If so, sets PLACE, and the
 * thread has the registers of that place. Ends the STOP. */
bool tick_stop_reached(struct tick_code *code, struct tick_stop *stop, pid_t thread,
                       struct tick_place *place);

/* Returns the address in the program's own text of the instruction at ADDRESS, if that is one of an
 * addition in the code out of line, or of the jump behind it; otherwise ADDRESS. */
uint64_t tick_original_address(const struct tick_code *code, uint64_t address);

/* Makes the cells of THREAD, which is at a place that it was to stop at, the same wherever it came
 * from. */
void tick_settle(const struct tick_code *code, pid_t thread);

/* THREAD is no longer on its way to a stop. */
void tick_stop_end(const struct tick_code *code, struct tick_stop *stop, pid_t thread);

#endif
