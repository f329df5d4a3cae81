/* call_log.h: the log of a run's system calls, so that a part of the run can be repeated without
 * them.
 *
 * A process that repeats a part gets the results and bytes of the first time. Nothing is read or
 * written twice. */
#ifndef QUIPU_TRACEE_CALL_LOG_H
#define QUIPU_TRACEE_CALL_LOG_H

#include "format/system_calls.h"
#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct system_call {
    uint64_t number, arguments[6];
    int64_t result;
};

struct logged_call {
    uint64_t number;
    int64_t result;
    struct {
        uint64_t address;
        uint8_t *bytes;
        size_t size;
    } outputs[QUIPU_CALL_ACCESSES]; /* of the row's accesses */
};

struct call_log {
    struct arena arena;
    VECTOR(struct logged_call) calls;
    size_t bytes; /* total of what the calls have written */
};

/* Whether the call writes what an access of its row is about. */
static inline bool is_output(uint32_t extent) {
    return extent && !(extent & QUIPU_CALL_READS);
}

/* Returns the bytes that the range of EXTENT, other than QUIPU_EXTENT_POINTED, has if the call
 * returns RESULT. */
uint64_t output_bytes(const struct system_call *call, uint32_t extent, int64_t result);

/* Returns the maximum of that. */
uint64_t most_output_bytes(const struct system_call *call, uint32_t extent);

/* Returns the row of CALL, or one of QUIPU_CALL_ONCE if the table has none. */
const struct quipu_system_call *find_call_row(const struct system_call *call);

/* Whether CALL may write to, or unmap, the SIZE bytes at ADDRESS. */
bool may_write(const struct system_call *call, uint64_t address, uint64_t size);

/* Adds CALL, which PROCESS has just made. Returns false if the bytes that it wrote cannot be read.
 */
bool log_call(struct call_log *log, pid_t process, const struct system_call *call,
              const struct quipu_system_call *row);

/* Writes the logged bytes of CALL into PROCESS. */
bool give_call(const struct logged_call *call, pid_t process);

/* Removes all calls. */
void clear_calls(struct call_log *log);

#endif
