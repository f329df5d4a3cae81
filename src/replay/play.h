/* play.h: the state of a player, which its parts share: player.c, play_start.c, play_call.c. */
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
    struct recording recording;
    struct tracee tracee;
    pid_t process;
    struct streams streams;
    struct playing *playing;

    /* The next event that is not of memory, and the memory that it writes. */
    struct event event;
    VECTOR(struct memory_event) memory;
    bool has_event; /* it is read */

    bool ended;
    enum played end;
};

/* ---- player.c ---- */

/* The play ends so, with the MESSAGE in the player's arena, or NULL. */
void end_play(struct player *player, enum played end, const char *message);

/* The run differs: here the process DOES something that the recording does not have. */
void end_by_difference(struct player *player, const char *does);

/* The event is corrupt. */
void end_by_corruption(struct player *player);

/* Reads the next event, if it is not read yet. Returns false if the play has ended for the lack of
 * one. */
bool peek_event(struct player *player);

/* Writes the event's memory. ARGUMENTS are the call's, or NULL. Returns false if the play ends. */
bool write_event_memory(struct player *player, const uint64_t arguments[6]);

/* The event is done. If a signal comes behind it, that is delivered. */
void finish_event(struct player *player);

/* ---- play_start.c ---- */

/* Starts the program as it was recorded. Returns NULL, or a message. */
const char *start_play(struct player *player);

/* ---- play_call.c ---- */

/* The process is stopped in front of CALL. */
void play_call(struct player *player, const struct system_call *call);

#endif
