/* target.h: a place on the time line that is gone to from an earlier one. */
#ifndef QUIPU_DEBUG_TARGET_H
#define QUIPU_DEBUG_TARGET_H

#include "debug/same_state.h"
#include "debug/timeline.h"

/* How it is known that the target is reached. */
enum target_kind {
    TARGET_EVENTS, /* by the number of events */
    TARGET_STEPS,  /* and that of instructions */
    TARGET_SIGNAL, /* by the signal that comes next */
    TARGET_END,    /* as nothing comes next */
    TARGET_STATE   /* by registers and memory, at the address of its instruction */
};

struct target {
    enum target_kind kind;
    struct place place;
    uint64_t address;
    struct wanted_state state;
};

/* The target becomes the place of STAND, whose process must stay there. */
void set_target(struct target *target, const struct stand *stand);
void forget_target(struct target *target);

enum reached {
    REACHED,      /* the target */
    REACHED_HALT, /* a point, in front of the target */
    REACHED_STOP, /* the user wants to stop */
    REACHED_NOT   /* it is not on this way */
};

/* Goes on towards the target, up to it or to the next point. OVER: by one instruction first. */
enum reached go_to_target(struct timeline *timeline, struct target *target, bool over,
                          struct halt *halt);

/* Goes on up to the begin of the slice behind EVENTS events, without points. Checkpoints are made
 * on the way, the closer, the nearer they are. */
enum reached run_to_events(struct timeline *timeline, uint64_t events);

/* ---- locate.c ---- */

/* Finds how many instructions the present place is behind a checkpoint or the begin of its slice,
 * and makes it known as such. */
enum reached locate(struct timeline *timeline);

#endif
