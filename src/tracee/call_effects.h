/* call_effects.h: what a system call has written in the memory of its process.
 *
 * The table (format/system_calls.h) tells it. Of calls that the table does not have, the memory is
 * compared with a copy from in front of the call. */
#ifndef QUIPU_TRACEE_CALL_EFFECTS_H
#define QUIPU_TRACEE_CALL_EFFECTS_H

#include "tracee/call_log.h"
#include "tracee/memory_copy.h"

#include <sys/socket.h>

/* A call that a process is in. */
struct call_effects {
    struct arena arena; /* of all that is found; released by the next begin */
    const struct quipu_system_call *row;
    bool known;                            /* the table has the call */
    uint64_t pointed[QUIPU_CALL_ACCESSES]; /* sizes that were in memory in front of the call */
    struct msghdr message;                 /* the same of a struct msghdr */
    range_list before;                     /* copy of the memory, if the call is not known */
};

/* PROCESS is stopped in front of CALL. Returns false if memory must be copied and cannot be. */
bool effects_begin(struct call_effects *effects, pid_t process, const struct system_call *call);

/* PROCESS is stopped behind CALL, which has its result. Sets RANGES to what was written; bytes that
 * did not change may be among them. Returns false if that cannot be read. */
bool effects_end(struct call_effects *effects, pid_t process, const struct system_call *call,
                 range_list *ranges);

/* PROCESS is in CALL. Adds to RANGES, without bytes, what the call may write before it ends.
 * Returns false if that may be anything. */
bool effects_to_come(struct call_effects *effects, pid_t process, const struct system_call *call,
                     struct arena *arena, range_list *ranges);

/* Returns the name of the system call NUMBER in ARENA: "call 500" if the table does not have it. */
const char *call_name(struct arena *arena, uint64_t number);

#endif
