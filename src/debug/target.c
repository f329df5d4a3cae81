/* target.c: goes from a checkpoint to a later place; see target.h. */
#include "debug/filter.h"

#include "debug/program.h"

#include "x86/kernel.h"

enum {
    STEPS_MOST = 20000,  /* more are not counted again */
    CLOSE_TICKS = 16,    /* at most so many passes are looked at, twice */
    WORTH_KEEPING = 3000 /* microseconds that a checkpoint must save */
};

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
    drop_stand(&target->shifted);
}

void set_target(struct timeline *timeline, struct target *target, const struct stand *stand) {
    struct thread_ticks ticks;
    target->kind = kind_of(&stand->place);
    target->place = stand->place;
    target->address = target->passes = 0;
    target->has_guide = target->wants_jump = false;
    target->has_ticks = target->is_moment = false;
    target->guides = 0;
    target->patience = 0;
    target->shift = 0;
    drop_stand(&target->good);
    drop_stand(&target->shifted);
    if (target->kind != TARGET_STATE)
        return;
    want_state(&target->state, stand->process, &stand->state.stacks);
    target->address = next_instruction(stand->process);
    target->has_ticks = player_has_alarms(timeline->player, stand->process) &&
                        read_ticks_of(timeline, stand->process, 0, &ticks);
    target->ticks = target->has_ticks ? ticks.raw : 0;
    target->is_moment = target->has_ticks && ticks.place;
}

/* How near the thread that comes next, in the target's slice, is. Each pass is looked at, unless it
 * is far: then the player's alarm will stop it. */
enum nearness {
    FAR,
    NEAR,
    CLOSE
};

/* Returns the ticks in front of the target behind which the passes are looked at. */
static uint64_t close_ticks(struct timeline *timeline) {
    return CLOSE_TICKS + 2 * program_of(timeline)->most_above;
}

static enum nearness how_near(struct timeline *timeline, const struct target *target) {
    struct thread_ticks now;
    player_select(timeline->player);
    uint64_t least = close_ticks(timeline), margin = 2 * least;
    if (!target->has_ticks || target->ticks < margin ||
        !read_ticks_of(timeline, timeline_process(timeline), 0, &now))
        return CLOSE;
    if (now.raw + margin >= target->ticks)
        return now.raw + least >= target->ticks ? CLOSE : NEAR;
    return FAR;
}

bool is_far(struct timeline *timeline, const struct target *target) {
    return target->kind == TARGET_STATE && how_near(timeline, target) == FAR;
}

static void set_tick_alarm(struct timeline *timeline, const struct target *target) {
    player_set_alarm(timeline->player, player_thread(timeline->player),
                     target->ticks - 2 * close_ticks(timeline));
}

/* The passes from here on are looked at. On the way to the alarm the thread has other cells than
 * without. A program that asks for its moments has them in its registers then, so the place behind
 * the alarm is not found on another way; a later one is. */
static void begin_passes(struct timeline *timeline, struct target *target) {
    struct stand good;
    player_set_alarm(timeline->player, 0, 0);
    if (!copy_here(timeline, &good))
        return;
    drop_stand(&target->good);
    target->good = good;
    target->passes = 0;
}

/* Whether the present place is a target that is known by numbers. */
static bool is_at(const struct timeline *timeline, const struct target *target) {
    const struct place *here = &timeline->here, *wanted = &target->place;
    bool by_numbers = target->kind == TARGET_EVENTS || target->kind == TARGET_STEPS;
    return by_numbers && here->events == wanted->events && here->base == wanted->base &&
           here->steps == wanted->steps;
}

bool is_in_state(struct timeline *timeline, struct wanted_state *state) {
    pid_t process = timeline_process(timeline);
    if (!has_general_registers(state, process))
        return false;
    take_points_out(timeline);
    return has_state(state, process);
}

/* Where the instruction is one of a moment, its ticks tell all passes apart. Memory would not do:
 * if the program asks for its moments, it leaves its cells on the stack, which depend on the way.
 */
bool is_at_state(struct timeline *timeline, struct target *target) {
    struct thread_ticks now;
    pid_t process = timeline_process(timeline);
    if (target->kind != TARGET_STATE || timeline->here.events != target->place.events ||
        next_instruction(process) != target->address)
        return false;
    if (target->is_moment)
        return read_ticks_of(timeline, process, 0, &now) && now.raw == target->ticks;
    return is_in_state(timeline, &target->state);
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
        *result = in_slice ? REACHED : REACHED_HALT;
        return in_slice ? target->kind == TARGET_SIGNAL : is_hit(timeline, halt);
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
        if (is_at_state(timeline, target) || is_at(timeline, target))
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

/* In a program without ticks, behind many passes: goes on to the target, or to a point in front of
 * it, as RESULT tells. Returns false if it has not gone on. */
static bool pass_quickly(struct timeline *timeline, struct target *target, bool over,
                         struct halt *halt, enum reached *result) {
    uint64_t passes;
    bool at_point = over && next_instruction(timeline_process(timeline)) != target->address;
    if (at_point || !has_many_passes(target) || !may_filter(timeline, target) ||
        !go_filtered(timeline, target, 0, halt, &passes, result))
        return false;
    target->passes += passes - (*result == REACHED);
    if (*result == REACHED_HALT && passes < target->passes / 2)
        target->passes = 0; /* points are closer to each other: they are looked at alone */
    return true;
}

/* Goes on from halt to halt. */
static enum reached approach(struct timeline *timeline, struct target *target, bool over,
                             struct halt *halt) {
    const struct place *here = &timeline->here;
    enum nearness before = CLOSE;
    enum reached result;
    while (!is_at(timeline, target)) {
        if (pass_quickly(timeline, target, over, halt, &result))
            return result;
        if (!over && may_jump(target)) {
            result = jump_ahead(timeline, target, halt);
            if (result != REACHED)
                return result;
        }
        bool in_slice = here->events == target->place.events;
        bool is_sought = in_slice && target->kind == TARGET_STATE;
        enum nearness now = is_sought ? how_near(timeline, target) : before;
        if (is_sought && now == FAR)
            set_tick_alarm(timeline, target);
        if (now > before)
            begin_passes(timeline, target);
        before = now;
        bool counts = in_slice && target->kind == TARGET_STEPS &&
                      here->base == target->place.base && here->steps != STEPS_UNKNOWN;
        set_stops(timeline, timeline->ignores_points,
                  is_sought && now != FAR ? target->address : 0);
        *halt = counts && !over ? step_on(timeline) : advance(timeline, over);
        if (take_halt(timeline, target, halt, &result))
            return result;
        over = stands_in_front(halt->kind);
        target->passes += over && in_slice;
    }
    return REACHED;
}

enum reached go_to_target(struct timeline *timeline, struct target *target, bool over,
                          struct halt *halt) {
    enum reached reached = approach(timeline, target, over, halt);
    player_set_alarm(timeline->player, 0, 0);
    return reached;
}

enum reached run_to_events(struct timeline *timeline, uint64_t events) {
    uint64_t left = events - timeline->here.events;
    set_stops(timeline, true, 0);
    timeline->kept = timeline->clock;
    while (timeline->here.events != events) {
        struct halt halt = advance(timeline, false);
        if (halt.kind == HALT_INTERRUPT)
            return REACHED_STOP;
        if (halt.kind == HALT_END || timeline->here.events > events)
            return REACHED_NOT;
        bool is_near = events - timeline->here.events <= left / 2;
        if (is_near && timeline->clock - timeline->kept > WORTH_KEEPING) {
            keep_here(timeline);
            left = events - timeline->here.events;
        }
    }
    return REACHED;
}
