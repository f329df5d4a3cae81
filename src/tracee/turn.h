/* turn.h: which thread of a serial run runs next, and how long. */
#ifndef QUIPU_TRACEE_TURN_H
#define QUIPU_TRACEE_TURN_H

#include "tracee/members.h"

enum {
    TURN_TICKS = 2000000
};

/* Whether the turn of the thread that ran last goes on. */
bool has_turn(const struct serial *serial);

/* The thread that ran last gets a new turn. */
void begin_turn(struct serial *serial);

/* Returns when to look again whether the turn has ended: clock_seconds. Only code without ticks
 * reaches that time. */
double turn_end(const struct serial *serial);

/* No thread runs. Returns the stopped one that runs next, and begins its turn if that is a new one.
 * NULL: none can run, or a stop has to be handled first. */
struct member *next_in_turn(struct serial *serial);

#endif
