/* store.h: the instruction that has just written what debug registers watch. */
#ifndef QUIPU_MOMENT_STORE_H
#define QUIPU_MOMENT_STORE_H

#include "moment/search.h"

/* THREAD stands behind an instruction that has written those of WATCH that WRITTEN tells of; behind
 * the write before it stood at LAST_WRITE, or 0.  Returns the instruction's address; 0 where it
 * cannot be told. */
uint64_t find_writing_instruction(const struct search *search, pid_t thread,
                                  const struct watch *watch, unsigned written, uint64_t last_write);

#endif
