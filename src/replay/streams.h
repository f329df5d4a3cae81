/* streams.h: which descriptors of a process lead to its first standard output and standard error.
 *
 * Not perfect: a descriptor that the process gets otherwise than by dup and its like, as by opening
 * /dev/tty or by a message, is not one of them. */
#ifndef QUIPU_REPLAY_STREAMS_H
#define QUIPU_REPLAY_STREAMS_H

#include "tracee/call_log.h"
#include "util/buffer.h"

enum {
    STREAM_DESCRIPTORS = 1024,   /* higher ones are by themselves */
    STREAM_DESCRIPTORS_HIGH = 16 /* more are followed to nowhere */
};

struct high_stream {
    uint32_t descriptor;
    uint8_t leads_to; /* 0: this place is free */
};

struct streams {
    uint8_t leads_to[STREAM_DESCRIPTORS]; /* 1, 2, or 0: to something else */
    struct high_stream high[STREAM_DESCRIPTORS_HIGH];
};

/* The streams of a process that begins. */
struct streams streams_begin(void);

/* The process has made CALL, which has its result. OPENED is the path that it has opened, or "". */
void streams_follow(struct streams *streams, const struct system_call *call, const char *opened);

/* PROCESS has executed another program, which closes descriptors. */
void streams_execute(struct streams *streams, pid_t process);

/* Returns 1 or 2 if CALL writes to standard output or error, otherwise 0. It need not have its
 * result. */
int stream_of_call(const struct streams *streams, const struct system_call *call);

/* Whether CALL writes to one of them what is not in the memory of the process. */
bool writes_unseen(const struct streams *streams, const struct system_call *call);

/* Returns the argument of CALL that is the path it opens, or -1. */
int opened_path(const struct system_call *call);

/* Appends to BYTES what CALL, which has its result, has written out of the memory of PROCESS.
 * Returns false if that cannot be read. */
bool read_written(pid_t process, const struct system_call *call, struct buffer *bytes);

/* Returns a hash of what CALL, which has its result, has written to any descriptor out of the
 * memory of PROCESS; 0 if it writes nothing, or the memory cannot be read. */
uint32_t hash_written(pid_t process, const struct system_call *call);

#endif
