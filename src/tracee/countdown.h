/* countdown.h: the ticks of a process of a run, and its countdown. */
#ifndef QUIPU_TRACEE_COUNTDOWN_H
#define QUIPU_TRACEE_COUNTDOWN_H

#include "tracee/repeat.h"

/* The address, as linked, of the runtime's place where a thread stops that has got its cells
 * (BEGINS), or whose goal of ticks has come; 0: there is none. */
uint64_t find_hook(const struct binary *binary, bool begins);

/* Has PROCESS stop when some of its next DISTANCE ticks, at most, have gone by, and at the next
 * test of the countdown; 0: not at all.  Returns false where it has no memory any more. */
bool stop_within(const struct run *run, struct repeated *process, uint64_t distance);

/* The ticks that the cells of PROCESS tell.  With ADDRESS, as linked, not 0: were it there. */
uint64_t read_ticks(const struct run *run, const struct repeated *process, uint64_t address);

/* For go_on: PROCESS, which has a distance, is behind where the runtime set its countdown. */
void set_countdown(const struct run *run, struct repeated *process);

/* For go_on: it has ended; notes how the ticks were divided. */
void end_countdown(struct run *run, const struct repeated *process);

#endif
