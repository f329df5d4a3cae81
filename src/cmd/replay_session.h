/* replay_session.h: a debugger for a replay: gdb as a child, or any that connects by TCP. */
#ifndef QUIPU_CMD_REPLAY_SESSION_H
#define QUIPU_CMD_REPLAY_SESSION_H

#include <stdbool.h>
#include <stdint.h>

struct replay_options {
    bool check;
    const char *gdb;     /* the program; NULL: gdb */
    const char *port;    /* NULL: gdb is started */
    uint64_t memory;     /* of checkpoints, in bytes; 0: what is usual */
    const char *process; /* its name; NULL: the first one */
    const char *at;      /* where to begin; NULL: at the begin */
};

/* Debugs the replay of the recording at PATH. Returns the exit status. */
int debug_replay(const char *path, const struct replay_options *options);

#endif
