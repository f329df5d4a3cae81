/* group_signals.h: signals that a recorded program sends to its whole process group, in which the
 * recorder is, too ('kill 0' of shells). */
#ifndef QUIPU_REPLAY_GROUP_SIGNALS_H
#define QUIPU_REPLAY_GROUP_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

/* From here on a signal that would end this process is ignored if a process has sent it that TRACER
 * traces. Sets OLD to the earlier actions, an element for each number of a signal below NSIG. */
void begin_group_signals(pid_t tracer, struct sigaction old[NSIG]);

/* Puts the actions OLD back. */
void end_group_signals(const struct sigaction old[NSIG]);

#endif
