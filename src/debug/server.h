/* server.h: lets gdb, or any client of its remote protocol, debug a replay, forwards and backwards.
 */
#ifndef QUIPU_DEBUG_SERVER_H
#define QUIPU_DEBUG_SERVER_H

#include "debug/timeline.h"

/* Where a session begins. */
enum session_begin {
    SESSION_BEGIN,
    SESSION_END,
    SESSION_PROGRAM, /* the first instruction of the program that it executed last */
    SESSION_SIGNAL,  /* in front of the last signal */
    SESSION_EVENTS,  /* behind `events` events */
    SESSION_MOMENT   /* at the moment that `moment` names */
};

struct session_place {
    enum session_begin begin;
    uint64_t events;
    const char *moment;
};

/* Goes to PLACE. Returns NULL, or a message. */
const char *begin_session(struct timeline *timeline, const struct session_place *place);

/* Returns the message of how the run ended, in ARENA. The timeline is at the end. */
const char *describe_end(struct arena *arena, struct timeline *timeline);

/* Serves the client that is connected by the descriptor FD, until it leaves. */
void serve(struct timeline *timeline, int fd);

#endif
