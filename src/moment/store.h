/* store.h: finds the instruction that has just written what debug registers watch. */
#ifndef QUIPU_MOMENT_STORE_H
#define QUIPU_MOMENT_STORE_H

#include "moment/search.h"

/* THREAD is stopped behind an instruction that has written the parts of WATCH whose bits are in
 * WRITTEN. LAST_WRITE is where it was stopped behind its previous write, or 0. Returns the
 * instruction's address, or 0 if it cannot be determined. */
uint64_t find_writing_instruction(const struct search *search, pid_t thread,
                                  const struct watch *watch, unsigned written, uint64_t last_write);

#endif
