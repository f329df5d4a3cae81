/* collector.h: takes the records of running programs out of their buffers, and makes a trace of
 * them. format/trace.h is the contract with the programs. */
#ifndef QUIPU_TRACE_COLLECTOR_H
#define QUIPU_TRACE_COLLECTOR_H

#include "trace/window.h"

#include <stdbool.h>
#include <stdint.h>

struct collector;

struct collector_options {
    const char *output; /* path of the trace, which is made anew */
    uint64_t memory;    /* bytes of all buffers; each thread has one buffer, whatever the limit */
    int level;          /* of zstd, 1 to 19; 0: records are stored as they are */
    unsigned jobs;      /* threads that compress at a time; 0: as many as there are processors */
    bool drop;          /* threads do not wait for an empty buffer: records are left out */
    bool schedule;      /* all processes run on one processor: their schedule is recorded */
    int processor;      /* that one; -1: the last one that quipu may use */
    struct trace_window window;
};

/* Begins a recording. Programs find it by the variable QUIPU_TRACE, which must be the result of
 * collector_directory. If the trace or its directory cannot be made, this is an error that ends
 * quipu. */
struct collector *collector_begin(const struct collector_options *options);
const char *collector_directory(const struct collector *collector);

/* If there is a schedule: from now on children of this process run on its processor, ... */
void collector_enter_processor(const struct collector *collector);
/* ... and from now on this process runs on the others, if there are any. */
void collector_leave_processor(const struct collector *collector);

/* Whether the trace could not be written. */
bool collector_failed(const struct collector *collector);

/* Whether records of threads have come. */
bool collector_has_records(const struct collector *collector);

/* Takes what is there. OFTEN: looks only at full buffers, not for processes that have ended.
 * Returns whether there was anything. */
bool collector_take(struct collector *collector, bool often);

/* Returns a number that collector_wait takes: waiting ends when a buffer is filled behind this
 * call. */
uint32_t collector_moment(const struct collector *collector);

/* Waits until a buffer is filled, until collector_wake, or for some hundredths of a second. */
void collector_wait(const struct collector *collector, uint32_t moment);

/* Ends a wait, also one that begins with an earlier moment. A signal handler may call it. */
void collector_wake(const struct collector *collector);

/* Whether a process may still record: it has the control file or a buffer. */
bool collector_has_processes(const struct collector *collector);

/* Stops the recording, takes what there is, and completes the trace. Returns an error message, or
 * NULL if nothing is missing. */
const char *collector_end(struct collector *collector);

#endif
