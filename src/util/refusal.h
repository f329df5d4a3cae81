/* refusal.h: why the system denies quipu access to another process, and what helps. */
#ifndef QUIPU_UTIL_REFUSAL_H
#define QUIPU_UTIL_REFUSAL_H

#include "util/arena.h"

#include <stdbool.h>
#include <sys/types.h>

/* Whether /proc is mounted. Without it quipu cannot look at other processes. */
bool has_proc(void);

/* The message if it is not. */
extern const char no_proc[];

/* Returns, in ARENA, a message: CALL, such as "ptrace", has failed with CAUSE, a value of errno,
 * for PROCESS, which ran already; 0: for a child of quipu. The message names the call and the
 * cause. If a permission is missing, it also gives the reason, as far as it is known, and a
 * remedy. */
const char *refusal(struct arena *arena, const char *call, pid_t process, int cause);

/* The same if the system ends a process that makes the call. */
const char *deadly_refusal(struct arena *arena, const char *call);

/* Returns the number behind KEY, such as "TracerPid:", in the status of PROCESS; 0: of quipu. Its
 * base is BASE. Returns -1 if there is none. */
long read_status(pid_t process, const char *key, int base);

#endif
