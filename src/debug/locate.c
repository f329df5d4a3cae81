/* locate.c: how many instructions a place is behind a checkpoint; see target.h.
 *
 * From a checkpoint of the slice one goes forwards to the place, and looks how near one can begin:
 *   - by single steps, if it is near;
 *   - from the last pass of the same instruction in front of it, as in a loop;
 *   - from somewhere between: by a timer. If the place is reached from where the timer has stopped
 *     the process, that was in front of it, and becomes a checkpoint.
 * Each way ends with single steps. */
#include "debug/filter.h"

#include "tracee/checkpoint.h"
#include "util/clock.h"
#include "x86/kernel.h"
#include "x86/registers.h"

#include <stdlib.h>

enum {
    STEPS_FEW = 600,
    STEPS_LOOP = 5000, /* of one turn of a loop */
    STEPS_NEAR = 300,  /* that the place is to be behind a checkpoint, at most */
    HALVINGS_MAX = 40
};

/* In seconds: what a timer can tell apart. */
static const double timer_least = 0.00002;

/* A timer that went too far becomes so much of it. */
static const double too_far = 0.7;

/* Steps up to MOST instructions. REACHED_HALT: they were not enough. */
static enum reached step_towards(struct timeline *timeline, struct target *target, uint64_t most) {
    set_stops(timeline, true, 0);
    if (is_at_state(timeline, target))
        return REACHED;
    for (uint64_t i = 0; i < most; i++) {
        struct halt halt = advance(timeline, true);
        if (halt.kind == HALT_INTERRUPT)
            return REACHED_STOP;
        if (halt.kind == HALT_SIGNAL && target->kind == TARGET_SIGNAL &&
            timeline->here.events == target->place.events)
            return REACHED;
        if (halt.kind == HALT_END && target->kind == TARGET_END)
            return REACHED;
        if (halt.kind == HALT_END || timeline->here.events > target->place.events)
            return REACHED_NOT;
        if (is_at_state(timeline, target))
            return REACHED;
    }
    return REACHED_HALT;
}

/* Goes on to the next pass of the target's instruction. REACHED: that is the target. */
static enum reached go_to_next_pass(struct timeline *timeline, struct target *target) {
    struct halt halt = {.kind = HALT_EVENT};
    set_stops(timeline, true, target->address);
    while (halt.kind != HALT_POINT) {
        halt = advance(timeline, false);
        if (halt.kind == HALT_INTERRUPT)
            return REACHED_STOP;
        if (halt.kind == HALT_SIGNAL && target->kind == TARGET_SIGNAL &&
            timeline->here.events == target->place.events)
            return REACHED;
        if (halt.kind == HALT_END)
            return target->kind == TARGET_END ? REACHED : REACHED_NOT;
        if (timeline->here.events > target->place.events)
            return REACHED_NOT;
    }
    return is_at_state(timeline, target) ? REACHED : REACHED_NOT;
}

/* Goes on to the pass NUMBER, from 1, of the target's instruction. OVER: the present one is none.
 */
static enum reached go_to_pass(struct timeline *timeline, struct target *target, uint64_t number,
                               bool over) {
    enum {
        FEW = 100
    };
    struct halt quick;
    uint64_t passes;
    enum reached reached;
    player_select(timeline->player);
    bool is_quick = number > FEW && may_filter(timeline, target);
    set_stops(timeline, true, 0);
    if (is_quick && !leave_replaced(timeline, target))
        return REACHED_NOT;
    bool is_first = !over && next_instruction(timeline_process(timeline)) == target->address;
    if (is_quick && go_filtered(timeline, target, number - is_first, &quick, &passes, &reached))
        return reached;
    set_stops(timeline, true, target->address);
    while (number) {
        struct halt halt = advance(timeline, over);
        over = halt.kind == HALT_POINT;
        number -= over;
        if (halt.kind == HALT_INTERRUPT)
            return REACHED_STOP;
        if (halt.kind == HALT_END || timeline->here.events > target->place.events)
            return REACHED_NOT;
    }
    return REACHED;
}

/* ---- a checkpoint in the slice ---- */

static bool is_in_slice(const struct checkpoint *checkpoint, const struct place *place) {
    return checkpoint && checkpoint->stand.place.events == place->events;
}

/* Goes to the last checkpoint of the target's slice that is in front of it, which is made if there
 * is none. LOW becomes it. */
static enum reached go_to_low(struct timeline *timeline, const struct target *target,
                              struct checkpoint **low) {
    *low = checkpoint_before(timeline, &target->place);
    if (is_in_slice(*low, &target->place))
        return go_to_copy(timeline, &(*low)->stand) ? REACHED : REACHED_NOT;
    if (!go_to_copy(timeline, &checkpoint_for(timeline, target->place.events)->stand))
        return REACHED_NOT;
    enum reached reached = run_to_events(timeline, target->place.events);
    if (reached == REACHED)
        *low = keep_here(timeline);
    return reached == REACHED && !*low ? REACHED_NOT : reached;
}

/* Goes somewhere between LOW and the target, by a timer of SECONDS. If that was in front of the
 * target, LOW becomes a checkpoint there, and the timeline is at the target. Otherwise REACHED_NOT,
 * and SECONDS becomes less. */
static enum reached come_between(struct timeline *timeline, struct target *target,
                                 struct checkpoint **low, double *seconds) {
    struct stand between;
    struct halt halt;
    if (!go_to_copy(timeline, &(*low)->stand))
        return REACHED_STOP;
    set_stops(timeline, true, 0);
    set_alarm(timeline, *seconds);
    do
        halt = advance(timeline, false);
    while (halt.kind == HALT_SIGNAL);
    set_alarm(timeline, 0);
    *seconds *= too_far;
    if (halt.kind == HALT_INTERRUPT)
        return REACHED_STOP;
    if (halt.kind != HALT_TIMER || timeline->here.events != target->place.events ||
        is_slice_begin(&timeline->here))
        return REACHED_NOT;
    if (!copy_here(timeline, &between)) {
        drop_stand(&between);
        return REACHED_NOT;
    }
    enum reached reached = go_to_next_pass(timeline, target);
    if (reached == REACHED) {
        *seconds /= too_far;
        struct checkpoint *made = keep_stand(timeline, &between);
        *low = made ? made : *low;
        timeline->working = *low;
    }
    drop_stand(&between);
    return reached;
}

/* Comes closer to the target from LOW, which is SECONDS in front of it, about, until few steps are
 * left. The timer ends later than it is set, by some 100 microseconds, and so never goes a shorter
 * way for certain: so where it went too far it is tried again with less. */
static enum reached halve(struct timeline *timeline, struct target *target, struct checkpoint **low,
                          double seconds) {
    seconds /= 2;
    for (int i = 0; i < HALVINGS_MAX && seconds > timer_least; i++)
        if (come_between(timeline, target, low, &seconds) == REACHED_STOP)
            return REACHED_STOP;
    return REACHED;
}

/* Goes from LOW to the target. LOW becomes the last place from which all passes were looked at, and
 * PASSES their number, without the target. */
static enum reached pass_to_target(struct timeline *timeline, struct target *target,
                                   struct checkpoint **low, uint64_t *passes, bool *over) {
    struct halt halt;
    if (!go_to_copy(timeline, &(*low)->stand))
        return REACHED_NOT;
    target->passes = 0;
    set_stops(timeline, true, 0);
    enum reached reached = go_to_target(timeline, target, false, &halt);
    *passes = target->passes;
    *over = target->good.process && next_instruction(target->good.process) == target->address;
    if (reached == REACHED && target->good.process) {
        struct checkpoint *made = keep_stand(timeline, &target->good);
        if (!made)
            return REACHED_NOT;
        timeline->working = *low = made;
    }
    return reached;
}

/* The present place, some steps behind LOW, is in front of the target, whose instruction is not
 * passed up to there. As it was come to by steps, its own instruction is often one of a loop: LOW
 * becomes the last pass of that. REACHED_HALT: it is still far from the target. */
static enum reached leave_loop(struct timeline *timeline, struct target *target,
                               struct checkpoint **low) {
    uint64_t passes;
    enum reached reached;
    for (int i = 0; i < STEPS_FEW && !may_filter_beside(timeline, target); i++)
        if (advance(timeline, true).kind != HALT_STEP || is_at_state(timeline, target))
            return REACHED_NOT;
    uint64_t address = next_instruction(timeline_process(timeline));
    struct checkpoint *begin = keep_here(timeline);
    if (!begin || !may_filter(timeline, target))
        return REACHED_NOT;
    timeline->working = *low = begin;
    if (!count_passes(timeline, target, address, &passes, &reached) || reached != REACHED)
        return reached == REACHED_STOP ? REACHED_STOP : REACHED_NOT;
    struct target pass = {.kind = TARGET_STATE, .place = target->place, .address = address};
    struct halt halt;
    if (!go_to_copy(timeline, &begin->stand))
        return REACHED_NOT;
    if (passes &&
        (!go_filtered(timeline, &pass, passes, &halt, &passes, &reached) || reached != REACHED))
        return reached == REACHED_STOP ? REACHED_STOP : REACHED_NOT;
    struct checkpoint *last = keep_here(timeline);
    timeline->working = *low = last ? last : begin;
    return step_towards(timeline, target, STEPS_LOOP);
}

/* Comes closer to the target from LOW, SECONDS in front of it, from where it is far by steps. */
static enum reached pass_loops(struct timeline *timeline, struct target *target,
                               struct checkpoint **low, double seconds) {
    enum {
        LOOPS_MOST = 50
    };
    enum reached reached = REACHED_HALT;
    for (int i = 0; i < LOOPS_MOST && reached == REACHED_HALT; i++)
        reached = leave_loop(timeline, target, low);
    return reached == REACHED_NOT || reached == REACHED_HALT ? halve(timeline, target, low, seconds)
                                                             : reached;
}

/* Sets LOW to a checkpoint in front of the target, from which a few steps lead to it. */
static enum reached come_close(struct timeline *timeline, struct target *target,
                               struct checkpoint **low) {
    uint64_t passes = 0;
    bool over = false;
    double begun = clock_seconds();
    enum reached reached = pass_to_target(timeline, target, low, &passes, &over);
    double seconds = clock_seconds() - begun;
    if (reached != REACHED)
        return reached;
    if (passes == 0 && target->has_ticks)
        return halve(timeline, target, low, seconds);
    if (passes == 0) {
        if (!go_to_copy(timeline, &(*low)->stand))
            return REACHED_NOT;
        reached = step_towards(timeline, target, STEPS_LOOP);
        return reached == REACHED_HALT ? pass_loops(timeline, target, low, seconds) : reached;
    }
    if (!go_to_copy(timeline, &(*low)->stand))
        return REACHED_NOT;
    reached = go_to_pass(timeline, target, passes, over);
    if (reached != REACHED)
        return reached;
    struct checkpoint *pass = keep_here(timeline);
    if (!pass)
        return REACHED_NOT;
    timeline->working = *low = pass;
    reached = step_towards(timeline, target, STEPS_LOOP);
    if (reached != REACHED_HALT)
        return reached;
    return pass_loops(timeline, target, low, seconds / (double)passes);
}

/* ---- the place ---- */

/* Finds the target's place, and sets PLACE to it. If that fails, PLACE does not change. */
static enum reached find_place(struct timeline *timeline, struct target *target,
                               struct place *place) {
    struct checkpoint *low;
    enum reached reached = go_to_low(timeline, target, &low);
    timeline->working = low;
    if (reached == REACHED)
        reached =
            is_far(timeline, target) ? REACHED_HALT : step_towards(timeline, target, STEPS_FEW);
    if (reached == REACHED_HALT) {
        reached = come_close(timeline, target, &low);
        if (reached == REACHED)
            reached = go_to_copy(timeline, &low->stand) ? step_towards(timeline, target, UINT64_MAX)
                                                        : REACHED_NOT;
    }
    if (reached == REACHED && timeline->here.steps < target->shift)
        reached = REACHED_NOT;
    if (reached == REACHED) {
        place->base = timeline->here.base;
        place->steps = timeline->here.steps - target->shift;
    }
    return reached;
}

/* Makes a checkpoint close in front of PLACE, which is many steps behind its base. */
static void keep_close(struct timeline *timeline, struct place *place) {
    uint64_t steps = place->steps;
    struct checkpoint *low =
        place->base ? (struct checkpoint *)place->base : checkpoint_for(timeline, place->events);
    if (!go_to_copy(timeline, &low->stand) ||
        (!place->base && run_to_events(timeline, place->events) != REACHED))
        return;
    set_stops(timeline, true, 0);
    for (uint64_t i = 0; i < steps - STEPS_NEAR / 2; i++)
        if (advance(timeline, true).kind != HALT_STEP)
            return;
    struct checkpoint *made = keep_here(timeline);
    if (made) {
        place->base = made;
        place->steps = STEPS_NEAR / 2;
    }
}

enum reached locate(struct timeline *timeline) {
    struct place *here = &timeline->here;
    struct target target = {.kind = TARGET_EVENTS};
    struct stand present;
    enum reached reached = REACHED;
    bool is_known = here->steps != STEPS_UNKNOWN && here->steps > 0;
    if (is_known && here->steps <= STEPS_NEAR)
        return REACHED;
    timeline->pinned = here->base;
    take_here(timeline, &present);
    struct stand wanted = present;
    if (!is_known) {
        wanted.place.steps = STEPS_UNKNOWN;
        set_target(timeline, &target, &wanted);
        shift_target(timeline, &target, &wanted);
        if (present.place.base && present.place.steps == 0)
            wanted.place.steps = 0;
        target.place = wanted.place;
        reached = find_place(timeline, &target, &present.place);
    }
    if (reached == REACHED && present.place.steps > STEPS_NEAR)
        keep_close(timeline, &present.place);
    go_to_stand(timeline, &present);
    timeline->pinned = timeline->working = NULL;
    forget_target(&target);
    bool is_base = here->base && here->steps == 0; /* a checkpoint: from one in front of it */
    return reached == REACHED && is_base ? locate(timeline) : reached;
}
