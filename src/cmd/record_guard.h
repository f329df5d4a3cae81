/* record_guard.h: a process that stays when the recorder is killed, for 'quipu record
 * --keep-running'. */
#ifndef QUIPU_CMD_RECORD_GUARD_H
#define QUIPU_CMD_RECORD_GUARD_H

#include "replay/recorder.h"

#include <signal.h>

/* Goes on in a child, which is the recorder, and sets NOTE to memory that both have. The caller is
 * its guard, and does not return: if the recorder is killed, it waits for the program, with which
 * it ends, with MASK as its signal mask. */
void guard_recorder(struct record_note **note, const sigset_t *mask);

#endif
