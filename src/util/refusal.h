/* refusal.h: why the system does not let us look at another process, and what helps. */
#ifndef QUIPU_UTIL_REFUSAL_H
#define QUIPU_UTIL_REFUSAL_H

#include "util/arena.h"

#include <stdbool.h>
#include <sys/types.h>

/* Whether /proc is there.  Without it no other process can be looked at. */
bool has_proc(void);

/* What to say where it is not. */
extern const char no_proc[];

/* CALL, such as "ptrace", has failed with CAUSE, a value of errno, for PROCESS, which runs already,
 * or 0: a child of ours.  Returns in ARENA what to say: the call, the cause, and, where that is a
 * missing permission, the reason as far as it can be told, and the cure. */
const char *refusal(struct arena *arena, const char *call, pid_t process, int cause);

/* The same where the system ends who makes the call. */
const char *deadly_refusal(struct arena *arena, const char *call);

/* What the status of PROCESS, 0 for our own, says of KEY, such as "TracerPid:", in base BASE; -1:
 * nothing. */
long read_status(pid_t process, const char *key, int base);

#endif
