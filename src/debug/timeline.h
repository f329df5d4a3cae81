/* timeline.h: a replayed run as a time line, on which one can go forwards and backwards.
 *
 * The present place is where the player's process stands. Checkpoints are copies of the process at
 * earlier, or later, places. Going backwards is going forwards from a checkpoint.
 *
 * A place is known by the events that were done, and within the slice between two events by a
 * number of instructions from its begin or from a checkpoint. Where that number is not known, the
 * process that stands there is what tells it from others (same_state.h). */
#ifndef QUIPU_DEBUG_TIMELINE_H
#define QUIPU_DEBUG_TIMELINE_H

#include "debug/calls.h"
#include "debug/points.h"
#include "debug/progress.h"
#include "replay/player.h"
#include "util/buffer.h"
#include "util/vector.h"

#define STEPS_UNKNOWN UINT64_MAX

enum {
    CHECKPOINTS_MAX = 48,
    UNWRITTEN_MAX = 16
};

struct checkpoint;
struct played_program;

struct place {
    uint64_t events;
    const struct checkpoint *base; /* of the same slice, at or in front of the place; NULL: the
                                      slice's begin */
    uint64_t steps;                /* instructions from there; or STEPS_UNKNOWN */
    bool at_signal;                /* in front of a signal, which is the next event */
    bool at_call;                  /* in front of a call that is caught, and was told of */
    bool ended;                    /* behind the last event */
};

/* A process that stands at a place. */
struct stand {
    pid_t process;
    struct play_state state;
    struct place place;
    uint64_t clock; /* microseconds that it took to come there from the begin, about */
};

struct checkpoint {
    struct stand stand;                /* its place is {events, itself, 0}, or {events, NULL, 0} */
    uint64_t unwritten[UNWRITTEN_MAX]; /* pages that are not written up to the next checkpoint */
    size_t unwritten_count;            /* as far as that is known (unwritten.h) */
};

enum halt_kind {
    HALT_EVENT,     /* behind an event */
    HALT_STEP,      /* behind an instruction */
    HALT_POINT,     /* in front of a breakpoint's instruction */
    HALT_WATCH,     /* behind an instruction, or event, that changed what is watched */
    HALT_CALL,      /* in front of a system call that is caught */
    HALT_RETURN,    /* behind one, with its result */
    HALT_SIGNAL,    /* in front of a signal */
    HALT_INTERRUPT, /* the debugger's user wants it */
    HALT_PROGRAM,   /* the process has executed another program, or, backwards, not yet */
    HALT_TIMER,     /* `until` has come; also at an event or behind a step; or the player's alarm */
    HALT_BEGIN,     /* at the begin; only backwards */
    HALT_END        /* there is no more */
};

struct halt {
    enum halt_kind kind;
    const struct point *point; /* of HALT_POINT and HALT_WATCH; NULL: the timeline's `extra` */
    uint64_t call;             /* of HALT_CALL and HALT_RETURN: its number */
    int signal;                /* of HALT_SIGNAL: its number */
};

/* Whether the user has asked for a halt of this KIND. */
static inline bool was_asked_for(enum halt_kind kind) {
    return kind == HALT_POINT || kind == HALT_WATCH || kind == HALT_CALL || kind == HALT_RETURN;
}

/* Whether going on from it must not halt at the same place again. */
static inline bool stands_in_front(enum halt_kind kind) {
    return kind == HALT_POINT || kind == HALT_CALL;
}

/* A signal that was come to. */
struct met_signal {
    uint64_t events; /* in front of it */
    int number;
};

/* What the program has written to its standard output or error. */
struct output {
    uint64_t events; /* in front of which it is written */
    size_t begin, size;
};

struct timeline {
    struct arena *arena;
    const char *path;
    struct play_hooks hooks;
    struct player *player;
    struct points points;
    struct caught_calls calls;
    struct played_program *played; /* program.h: that of here first; owned, see forget_programs */
    uint64_t programs;             /* that were read */
    pid_t moment_thread; /* recorded number of the thread whose moment this is; 0: it has gone on */
    uint64_t memory;     /* bytes that checkpoints take at most */
    struct checkpoint *checkpoints[CHECKPOINTS_MAX]; /* in the order of time; owned */
    size_t count;
    const struct checkpoint *pinned, *working; /* are not removed; or NULL */
    const struct stand *bookmarks;             /* of the user's; copies as well */
    size_t bookmark_count;
    VECTOR(uint64_t) moves;            /* events that have moved memory to other addresses */
    VECTOR(struct met_signal) signals; /* in the order of time */
    uint64_t passed_signals;           /* of which the user is not told: bit n - 1 for number n */
    struct place here;
    uint64_t clock;      /* of here */
    uint64_t program;    /* of here, of player_program_begin */
    bool tells_programs; /* the client is told where they begin */
    uint64_t site;       /* of an instruction that makes a call; 0: none was looked for */

    /* How it goes on. */
    bool ignores_points; /* only `extra` stops it */
    uint64_t call;       /* that the process is in front of, or was last */
    uint64_t extra;      /* one more breakpoint, or 0 */
    bool each_write;     /* HALT_WATCH, without a point, also where the old value is written again;
                            debug registers tell of that */
    pid_t stepper;       /* the recorded number of the thread that a step is of; 0: any */
    struct progress progress;
    double asked;      /* clock_seconds when the user was asked last */
    double until;      /* clock_seconds at which HALT_TIMER comes; 0: never */
    uint64_t kept;     /* the clock of the last checkpoint that was made, or of a way's begin */
    uint64_t copying;  /* microseconds that a checkpoint has taken lately */
    pid_t inserted_in; /* the process in which points are inserted, or 0 */

    uint64_t shown; /* events whose output was shown */
    struct buffer text;
    VECTOR(struct output) outputs;

    /* Whether the user wants a stop. */
    bool (*is_interrupted)(void *context);
    /* Gets what a diversion writes (diversion.h). NULL: it is lost. */
    void (*divert_output)(void *context, const char *bytes, size_t size);
    void *context;
    bool stopping;
};

/* Begins the replay of the PROCESS with that name, of the recording at PATH. Checkpoints
 * take MEMORY bytes at most, 0: what is usual. Returns NULL, or a message, or "" if it was already
 * printed. */
const char *timeline_begin(struct timeline *timeline, struct arena *arena, const char *path,
                           const char *process, uint64_t memory);
void timeline_end(struct timeline *timeline);

pid_t timeline_process(const struct timeline *timeline);

/* ---- motions: between these two the timer runs ---- */

void begin_motion(struct timeline *timeline);

/* HALT_TIMER comes after SECONDS; 0: never. */
void set_alarm(struct timeline *timeline, double seconds);

/* No points are inserted afterwards. */
void end_motion(struct timeline *timeline);

/* The process has no breakpoint instructions until it goes on. */
void take_points_out(struct timeline *timeline);

/* From now on the user's points stop it, unless it IGNORES_POINTS, and EXTRA, if that is not 0. */
void set_stops(struct timeline *timeline, bool ignores_points, uint64_t extra);

/* Returns the number of events behind which the program of the place behind EVENTS events begins.
 */
uint64_t program_begin(const struct timeline *timeline, uint64_t events);

/* The present program may be another one than before. */
void notice_program(struct timeline *timeline);

/* Whether the present place is directly behind a system call that is caught. HALT becomes that. */
bool has_returned(const struct timeline *timeline, struct halt *halt);

/* Whether the user is told of a signal of this NUMBER. */
bool stops_at_signal(const struct timeline *timeline, int number);

/* Whether a search for the user's points ends at HALT: also at signals. */
bool is_hit(const struct timeline *timeline, const struct halt *halt);

/* Returns the user's breakpoint that stops in front of the instruction that comes next, unless it
 * is ignored; or NULL. */
const struct point *point_here(const struct timeline *timeline);

/* Goes on to the next halt, with STEP by one instruction. Checkpoints are not made by it. */
struct halt advance(struct timeline *timeline, bool step);

/* ---- checkpoints.c ---- */

/* Keeps the present place as a checkpoint, and returns it. It becomes the present place's base.
 * NULL: a copy cannot be made, or not here. */
struct checkpoint *keep_here(struct timeline *timeline);

/* Makes STAND, which is then empty, a checkpoint. NULL: there is no room. */
struct checkpoint *keep_stand(struct timeline *timeline, struct stand *stand);

/* Sets STAND to a copy of the present place. */
bool copy_here(struct timeline *timeline, struct stand *stand);

/* Takes the present process away as STAND. The timeline has none until it goes to another stand. */
void take_here(struct timeline *timeline, struct stand *stand);

/* Goes to STAND. Its process becomes the player's, and the former one is killed. */
bool go_to_stand(struct timeline *timeline, struct stand *stand);

/* Goes to a copy of STAND. */
bool go_to_copy(struct timeline *timeline, const struct stand *stand);

/* Returns the last checkpoint at or in front of the begin of the slice behind EVENTS events; the
 * first one is always there. */
struct checkpoint *checkpoint_for(const struct timeline *timeline, uint64_t events);

/* Returns the last checkpoint in front of PLACE, or NULL. */
struct checkpoint *checkpoint_before(const struct timeline *timeline, const struct place *place);

void drop_stand(struct stand *stand);

/* Whether PLACE is directly behind an event. */
bool is_slice_begin(const struct place *place);

/* ---- forward.c ---- */

/* A way forwards begins: HALT_TIMER comes when it is time for a checkpoint. */
void begin_way(struct timeline *timeline);

/* Makes a checkpoint if it is time for one, at HALT_EVENT or HALT_TIMER. */
void keep_on_the_way(struct timeline *timeline);

/* Goes forwards to the next halt that a user sees. With STEP, by one instruction. */
struct halt go_forwards(struct timeline *timeline, bool step);

/* Goes to the end. SIGNAL becomes the number of events in front of the last signal on the way, if
 * there is one. Returns false if the user has stopped it. */
bool go_to_end(struct timeline *timeline, uint64_t *signal);

/* ---- backward.c ---- */

/* Goes backwards to the last halt in front of the present place: HALT_POINT, HALT_WATCH (in front
 * of the instruction that wrote), HALT_PROGRAM (in front of the call that executes the present one,
 * if that is told), HALT_BEGIN, HALT_INTERRUPT (at the old place). */
struct halt go_backwards(struct timeline *timeline);

/* Goes backwards by one instruction. HALT_STEP, HALT_BEGIN, HALT_INTERRUPT. */
struct halt step_backwards(struct timeline *timeline);

/* Goes to the begin of the slice behind EVENTS events. Returns false, at the end, if there are not
 * so many. */
bool go_to_events(struct timeline *timeline, uint64_t events);

#endif
