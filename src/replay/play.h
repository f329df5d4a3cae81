/* play.h: the state of a player, which its parts share: player.c, play_event.c, play_start.c,
 * play_call.c. */
#ifndef QUIPU_REPLAY_PLAY_H
#define QUIPU_REPLAY_PLAY_H

#include "replay/player.h"
#include "replay/recording.h"
#include "replay/streams.h"
#include "tracee/affinity.h"
#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "util/vector.h"

struct player {
    struct arena *arena;
    struct arena event_arena; /* of the next event */
    const struct play_hooks *hooks;
    struct recording recording;
    struct tracee tracee; /* the process that was started */
    pid_t process;        /* that plays; 0: it is gone */
    struct streams streams;
    struct playing playing;
    pid_t number;           /* of the recorded process */
    uint64_t events;        /* that were done */
    uint64_t event_address; /* of the instruction that the last one was */
    bool in_call;           /* it is stopped in front of a system call, which is not made */
    bool stepped;           /* its last instruction was a single step */
    bool announced;         /* there was a pause in front of the signal that comes next */

    /* The next event that is not of memory, and the memory that it writes. */
    struct recording_place place; /* where they begin */
    struct event event;
    VECTOR(struct memory_event) memory;
    bool has_event; /* it is read */

    bool ended;
};

/* ---- play_event.c ---- */

/* The play ends so, with the MESSAGE in the player's arena, or NULL. */
void end_play(struct player *player, enum played end, const char *message);

/* The run differs: here the process DOES something that the recording does not have. */
void end_by_difference(struct player *player, const char *does);

/* The event is corrupt. */
void end_by_corruption(struct player *player);

/* Reads the next event, if it is not read yet. Returns false if the play has ended for the lack of
 * one. */
bool peek_event(struct player *player);

/* The next event is to be read anew from `place`. */
void forget_event(struct player *player);

/* Writes the event's memory. ARGUMENTS are the call's, or NULL. Returns false if the play ends. */
bool write_event_memory(struct player *player, const uint64_t arguments[6]);

/* The event is done. The play ends if there is no other. */
void finish_event(struct player *player);

/* ---- play_start.c ---- */

/* Starts the program as it was recorded. Returns NULL, or a message. */
const char *start_play(struct player *player);

/* ---- play_call.c ---- */

/* The process is stopped in front of CALL. */
void play_call(struct player *player, const struct system_call *call);

#endif
