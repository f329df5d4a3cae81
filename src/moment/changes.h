/* changes.h: the values of an expression's objects in front of an instruction and behind it, and
 * the instruction's text. */
#ifndef QUIPU_MOMENT_CHANGES_H
#define QUIPU_MOMENT_CHANGES_H

#include "moment/search.h"

/* Fills `changes` of SEARCH anew with the present values of all objects in PROCESS, which is
 * stopped. */
void note_before(struct search *search, pid_t process);

/* Records the present values in PROCESS as those behind the instruction. */
void note_after(struct search *search, pid_t process);

/* Returns the text of the instruction at `address` of SEARCH, or "" if it cannot be read. */
const char *read_instruction(struct search *search, pid_t process);

#endif
