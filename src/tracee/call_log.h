/* call_log.h: the log of a run's system calls, so that a part of the run can be repeated without
 * them.
 *
 * A process that repeats a part gets the results and bytes of the first time. Nothing is read or
 * written twice. */
#ifndef QUIPU_TRACEE_CALL_LOG_H
#define QUIPU_TRACEE_CALL_LOG_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct system_call {
    uint64_t number, arguments[6];
    int64_t result;
};

enum call_kind {
    CALL_GIVEN, /* its effects are outside the process, or in the memory that its row describes */
    CALL_AGAIN, /* it changes only the process's own memory and state: not logged, but made again */
    CALL_ONCE,  /* anything else: no part that contains it can be repeated */
};

/* The number of bytes that a call writes. */
enum output_size {
    OUTPUT_BYTES,  /* a constant */
    OUTPUT_RESULT, /* the call's result */
    OUTPUT_POLLED, /* a struct pollfd for each; the second argument is their number */
    OUTPUT_EVENTS, /* a struct epoll_event for each; the result is their number */
};

struct call_output {
    uint8_t argument; /* number of the argument with the address; 0: no output */
    uint8_t size;     /* enum output_size */
    uint16_t bytes;
};

enum {
    OUTPUTS_MAX = 2
};

struct call_row {
    int number;
    uint8_t kind;
    bool (*fits)(const struct system_call *call); /* NULL: the row always applies; if this returns
                                                     false, the call is CALL_ONCE */
    struct call_output outputs[OUTPUTS_MAX];
};

struct logged_call {
    uint64_t number;
    int64_t result;
    struct {
        uint64_t address;
        uint8_t *bytes;
        size_t size;
    } outputs[OUTPUTS_MAX];
};

struct call_log {
    struct arena arena;
    VECTOR(struct logged_call) calls;
    size_t bytes; /* total of what the calls have written */
};

/* Returns the row of CALL, or a row of CALL_ONCE if the table has none. */
const struct call_row *find_call_row(const struct system_call *call);

/* Whether CALL may write to, or unmap, the SIZE bytes at ADDRESS. */
bool may_write(const struct system_call *call, uint64_t address, uint64_t size);

/* Adds CALL, which PROCESS has just made. Returns false if the bytes that it wrote cannot be read.
 */
bool log_call(struct call_log *log, pid_t process, const struct system_call *call,
              const struct call_row *row);

/* Writes the logged bytes of CALL into PROCESS. */
bool give_call(const struct logged_call *call, pid_t process);

/* Removes all calls. */
void clear_calls(struct call_log *log);

#endif
