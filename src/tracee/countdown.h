/* countdown.h: the ticks of a process of a run, and its countdown. */
#ifndef QUIPU_TRACEE_COUNTDOWN_H
#define QUIPU_TRACEE_COUNTDOWN_H

#include "tracee/repeat.h"

/* Returns the address, as linked, of a hook of the runtime: with BEGINS the instruction where a
 * thread has got its cells, otherwise where its countdown has ended. 0: there is none. */
uint64_t find_hook(const struct binary *binary, bool begins);

/* Makes PROCESS stop within its next DISTANCE ticks, at the first test of the countdown behind its
 * end. 0: never. Returns false if the process's memory is gone. */
bool stop_within(const struct run *run, struct repeated *process, uint64_t distance);

/* Returns the ticks of PROCESS according to its cells. With ADDRESS, as linked and not 0, adds the
 * potential at that instruction. */
uint64_t read_ticks(const struct run *run, const struct repeated *process, uint64_t address);

/* For go_on. PROCESS has a distance, and is behind the code in which the runtime set its countdown.
 */
void set_countdown(const struct run *run, struct repeated *process);

/* For go_on. The countdown has ended; records how the ticks were divided among the cells. */
void end_countdown(struct run *run, const struct repeated *process);

#endif
