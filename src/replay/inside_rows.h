/* inside_rows.h: which system calls are recorded inside of the program, and how they are made
 * there. */
#ifndef QUIPU_REPLAY_INSIDE_ROWS_H
#define QUIPU_REPLAY_INSIDE_ROWS_H

#include "format/inside.h"
#include "tracee/call_log.h"

#include <stdbool.h>

/* Returns the table. */
const struct quipu_inside_rows *inside_rows(void);

/* Whether the call NUMBER may be made inside, with some arguments. */
bool may_be_inside(uint64_t number);

/* Whether CALL is tried, and left if it would wait. */
bool waits_inside(const struct system_call *call);

#endif
