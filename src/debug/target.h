/* target.h: a place on the time line that is gone to from an earlier one. */
#ifndef QUIPU_DEBUG_TARGET_H
#define QUIPU_DEBUG_TARGET_H

#include "debug/guide.h"
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

    /* Of TARGET_STATE, in a program with ticks: shortly in front of these its passes begin to be
     * looked at. */
    bool has_ticks;
    bool is_moment; /* its instruction ticks: no other pass of it has the same */
    uint64_t ticks; /* the sum of the thread's cells and their base */

    /* Of TARGET_STATE: how it is come closer to where its instruction is passed too often. */
    uint64_t passes;   /* since `good`, or since the slice was entered */
    struct stand good; /* the last place from which all passes were looked at; or no process */
    struct guide guide;
    bool has_guide;
    unsigned guides;   /* that were looked for */
    uint64_t patience; /* passes more than usual, in front of the next one */
    bool wants_jump;   /* the last one was good */

    /* Of TARGET_STATE: it is the place so many instructions behind the wanted one (filter.h). */
    uint64_t shift;
    struct stand shifted; /* that stands there; or no process */
};

/* The target, which is one already, or zeros, becomes the place of STAND, whose process must stay
 * there. */
void set_target(struct timeline *timeline, struct target *target, const struct stand *stand);
void forget_target(struct target *target);

/* Whether the process has the STATE. Its breakpoints, which may be in data, too, are taken out if
 * it is worth a look. */
bool is_in_state(struct timeline *timeline, struct wanted_state *state);

/* Whether the process, in the target's slice, is at TARGET_STATE. */
bool is_at_state(struct timeline *timeline, struct target *target);

/* Whether the target, of the present slice, is many ticks ahead: single steps do not lead there. */
bool is_far(struct timeline *timeline, const struct target *target);

enum reached {
    REACHED,      /* the target */
    REACHED_HALT, /* a point, in front of the target */
    REACHED_STOP, /* the user wants to stop */
    REACHED_NOT   /* it is not on this way */
};

/* The present place is in the target's slice, in front of it, and its instruction was passed often.
 * Comes closer to it by a timer, where there is a guide, or up to a point on the way: REACHED_HALT.
 * Otherwise, also where it has not come closer, REACHED. */
enum reached jump_ahead(struct timeline *timeline, struct target *target, struct halt *halt);

/* Whether the passes that were looked at are many. */
bool has_many_passes(const struct target *target);

/* Whether that is worth a try. */
bool may_jump(const struct target *target);

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
