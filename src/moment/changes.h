/* changes.h: what the objects of an expression are in front of an instruction and behind it, and
 * the instruction's text. */
#ifndef QUIPU_MOMENT_CHANGES_H
#define QUIPU_MOMENT_CHANGES_H

#include "moment/search.h"

/* Makes `changes` of SEARCH anew: all objects are now what they are in PROCESS, which stands. */
void note_before(struct search *search, pid_t process);

/* What they are in PROCESS now is what they are behind the instruction. */
void note_after(struct search *search, pid_t process);

/* The text of the instruction at `address` of SEARCH; "" where it cannot be read. */
const char *read_instruction(struct search *search, pid_t process);

#endif
