/* call_log.h: the system calls of a run, so that a part of it can run again without them.
 *
 * A process that runs a part again gets the results and the bytes that the calls had the first
 * time; nothing is written or read twice. */
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
    CALL_GIVEN, /* what it did was outside, or in the memory that its row tells of */
    CALL_AGAIN, /* it changes the process's own memory and state: it is not logged, and made again
                 */
    CALL_ONCE,  /* anything else: nothing in front of it can run again up to behind it */
};

/* How many bytes a call writes. */
enum output_size {
    OUTPUT_BYTES,  /* a number of them */
    OUTPUT_RESULT, /* as many as it returns */
    OUTPUT_POLLED, /* a struct pollfd for each of what its second argument counts */
    OUTPUT_EVENTS, /* a struct epoll_event for each of what it returns */
};

struct call_output {
    uint8_t argument; /* that holds the address; 0 is no place */
    uint8_t size;     /* enum output_size */
    uint16_t bytes;
};

enum {
    OUTPUTS_MAX = 2
};

struct call_row {
    int number;
    uint8_t kind;
    bool (*fits)(const struct system_call *call); /* NULL: always; else CALL_ONCE where it does not
                                                     fit */
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
    size_t bytes; /* that calls have written, all together */
};

/* The row that CALL has; one of CALL_ONCE where nothing is known of it. */
const struct call_row *find_call_row(const struct system_call *call);

/* Whether CALL may write to, or unmap, the SIZE bytes at ADDRESS. */
bool may_write(const struct system_call *call, uint64_t address, uint64_t size);

/* Notes CALL, which PROCESS has just made.  Returns false where what it wrote cannot be read. */
bool log_call(struct call_log *log, pid_t process, const struct system_call *call,
              const struct call_row *row);

/* Gives the bytes of CALL to PROCESS. */
bool give_call(const struct logged_call *call, pid_t process);

/* Forgets all of them. */
void clear_calls(struct call_log *log);

#endif
