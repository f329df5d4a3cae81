/* target.c: goes from a checkpoint to a later place; see target.h. */
#include "debug/target.h"

#include "util/clock.h"
#include "x86/kernel.h"

enum {
    STEPS_MOST = 20000 /* more are not counted again */
};

/* In seconds: what a checkpoint must save. */
static const double worth_keeping = 0.003;

static enum target_kind kind_of(const struct place *place) {
    if (place->ended)
        return TARGET_END;
    if (place->at_signal)
        return TARGET_SIGNAL;
    if (is_slice_begin(place))
        return TARGET_EVENTS;
    return place->steps > 0 && place->steps <= STEPS_MOST ? TARGET_STEPS : TARGET_STATE;
}

void forget_target(struct target *target) {
    forget_state(&target->state);
    drop_stand(&target->good);
}

void set_target(struct target *target, const struct stand *stand) {
    target->kind = kind_of(&stand->place);
    target->place = stand->place;
    target->address = target->passes = 0;
    target->has_guide = target->wants_jump = false;
    target->guides = 0;
    target->patience = 0;
    drop_stand(&target->good);
    if (target->kind != TARGET_STATE)
        return;
    want_state(&target->state, stand->process, &stand->state.stacks);
    target->address = next_instruction(stand->process);
}

/* Whether the present place is a target that is known by numbers. */
static bool is_at(const struct timeline *timeline, const struct target *target) {
    const struct place *here = &timeline->here, *wanted = &target->place;
    bool by_numbers = target->kind == TARGET_EVENTS || target->kind == TARGET_STEPS;
    return by_numbers && here->events == wanted->events && here->base == wanted->base &&
           here->steps == wanted->steps;
}

/* Whether the process, in front of the target's instruction, has its state. */
static bool is_state(struct timeline *timeline, struct target *target) {
    pid_t process = timeline_process(timeline);
    return target->kind == TARGET_STATE && timeline->here.events == target->place.events &&
           next_instruction(process) == target->address && has_state(&target->state, process);
}

/* Takes the halt in. Returns whether that ends the approach, by RESULT. */
static bool take_halt(struct timeline *timeline, struct target *target, const struct halt *halt,
                      enum reached *result) {
    bool in_slice = timeline->here.events == target->place.events;
    *result = REACHED_NOT;
    switch (halt->kind) {
    case HALT_INTERRUPT:
        *result = REACHED_STOP;
        return true;
    case HALT_END:
        *result = target->kind == TARGET_END ? REACHED : REACHED_NOT;
        return true;
    case HALT_SIGNAL:
        *result = REACHED;
        return in_slice && target->kind == TARGET_SIGNAL;
    case HALT_WATCH:
        *result = REACHED_HALT;
        return true;
    case HALT_RETURN: /* in front of the target, also if that has the state of the slice's begin */
        *result = is_at(timeline, target) ? REACHED : REACHED_HALT;
        if (timeline->here.events > target->place.events)
            *result = REACHED_NOT;
        return true;
    case HALT_CALL:
    case HALT_POINT:
        if (timeline->here.events > target->place.events)
            return true;
        *result = REACHED;
        if (is_state(timeline, target) || is_at(timeline, target))
            return true;
        *result = REACHED_HALT;
        return halt->point || halt->kind != HALT_POINT;
    default:
        return timeline->here.events > target->place.events;
    }
}

/* As a breakpoint instruction does, one that is not inserted stops in front of its own. */
static struct halt step_on(struct timeline *timeline) {
    const struct point *point = point_here(timeline);
    return point ? (struct halt){.kind = HALT_POINT, .point = point} : advance(timeline, true);
}

enum reached go_to_target(struct timeline *timeline, struct target *target, bool over,
                          struct halt *halt) {
    enum reached result;
    while (!is_at(timeline, target)) {
        const struct place *here = &timeline->here;
        if (may_jump(target)) {
            result = jump_ahead(timeline, target, halt);
            if (result != REACHED)
                return result;
        }
        bool in_slice = here->events == target->place.events;
        bool counts = in_slice && target->kind == TARGET_STEPS &&
                      here->base == target->place.base && here->steps != STEPS_UNKNOWN;
        set_stops(timeline, timeline->ignores_points,
                  in_slice && target->kind == TARGET_STATE ? target->address : 0);
        *halt = counts && !over ? step_on(timeline) : advance(timeline, over);
        if (take_halt(timeline, target, halt, &result))
            return result;
        over = stands_in_front(halt->kind);
        target->passes += over && in_slice;
    }
    return REACHED;
}

enum reached run_to_events(struct timeline *timeline, uint64_t events) {
    uint64_t left = events - timeline->here.events;
    set_stops(timeline, true, 0);
    timeline->kept = clock_seconds();
    while (timeline->here.events != events) {
        struct halt halt = advance(timeline, false);
        if (halt.kind == HALT_INTERRUPT)
            return REACHED_STOP;
        if (halt.kind == HALT_END || timeline->here.events > events)
            return REACHED_NOT;
        bool is_near = events - timeline->here.events <= left / 2;
        if (is_near && clock_seconds() - timeline->kept > worth_keeping) {
            keep_here(timeline);
            left = events - timeline->here.events;
        }
    }
    return REACHED;
}
