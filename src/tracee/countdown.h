/* countdown.h: the ticks of a thread under control, and its countdown.
 *
 * The cells of a thread are at the same address in each copy of its process. */
#ifndef QUIPU_TRACEE_COUNTDOWN_H
#define QUIPU_TRACEE_COUNTDOWN_H

#include "format/event.h"
#include "symbols/binary.h"

#include <sys/types.h>

/* A thread's cells of ticks. */
struct tick_cells {
    uint64_t block;                    /* address of its cells of events; 0: none yet */
    uint64_t recent[QUIPU_MANY_LANES]; /* recent ticks of each cell */
};

/* The countdown of a thread, in one process. */
struct countdown {
    bool at_hook;      /* it is stopped in the runtime, which will set its countdown */
    uint64_t distance; /* ticks: the countdown that it gets behind the hook; 0: none */
    /* the cells and the base, as they were set last */
    uint64_t cells[QUIPU_MANY_LANES], base;
};

/* Returns the address, as linked, of a hook of the runtime: with BEGINS the instruction where a
 * thread has got its cells, otherwise where its countdown has ended. 0: there is none. */
uint64_t find_hook(const struct binary *binary, bool begins);

/* Makes THREAD stop within its next DISTANCE ticks, at the first test of the countdown behind its
 * end. 0: never. Returns false if its memory is gone. */
bool stop_within(const struct tick_cells *ticks, struct countdown *countdown, pid_t thread,
                 uint64_t distance);

/* Returns the ticks of THREAD according to its cells. With ADDRESS, an instruction of BINARY as
 * linked and not 0, adds the potential there. */
uint64_t read_ticks(const struct tick_cells *ticks, pid_t thread, const struct binary *binary,
                    uint64_t address);

/* THREAD is behind a system call. If it was at a hook before, and has a distance, the runtime has
 * set its countdown now, and it gets the wanted one. */
void set_countdown(const struct tick_cells *ticks, struct countdown *countdown, pid_t thread);

/* The countdown has ended; records how the ticks were divided among the cells. */
void end_countdown(struct tick_cells *ticks, const struct countdown *countdown, pid_t thread);

#endif
