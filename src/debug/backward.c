/* backward.c: goes backwards; see timeline.h.
 *
 * The way from the last checkpoint is gone again, up to the present place, and the last point on it
 * is remembered: by its number on this way. If there is none, the way from the checkpoint before
 * comes next, up to this one. */
#include "debug/filter.h"
#include "debug/unwritten.h"

#include "tracee/checkpoint.h"
#include "util/clock.h"
#include "x86/kernel.h"

enum {
    MARK_HITS = 64,  /* so many are gone again at most */
    HITS_MANY = 2000 /* behind so many, the way is divided first */
};

/* In seconds: what a timer can tell apart. */
static const double timer_least = 0.00006;

/* A slice that takes longer is divided before passes are counted in it. */
static const double slice_long = 0.01;

/* ---- by one instruction ---- */

/* Goes to the begin of the slice behind EVENTS events, from the nearest checkpoint. */
static enum reached return_to_events(struct timeline *timeline, uint64_t events) {
    if (!go_to_copy(timeline, &checkpoint_for(timeline, events)->stand))
        return REACHED_NOT;
    return run_to_events(timeline, events);
}

/* Goes on to the end of the present slice. PASSES becomes how often the instruction at ADDRESS was
 * passed. */
static enum reached pass_slice(struct timeline *timeline, uint64_t address, uint64_t *passes) {
    uint64_t events = timeline->here.events;
    bool over = false;
    *passes = 0;
    set_stops(timeline, true, address);
    while (timeline->here.events == events && !timeline->here.ended) {
        struct halt halt = advance(timeline, over);
        if (halt.kind == HALT_INTERRUPT)
            return REACHED_STOP;
        over = halt.kind == HALT_POINT;
        *passes += over;
    }
    return REACHED;
}

/* Goes on to the pass NUMBER of the instruction at ADDRESS. */
static enum reached go_to_pass(struct timeline *timeline, uint64_t address, uint64_t number) {
    bool over = false;
    set_stops(timeline, true, address);
    while (number) {
        struct halt halt = advance(timeline, over);
        if (halt.kind == HALT_INTERRUPT)
            return REACHED_STOP;
        if (halt.kind == HALT_END || halt.kind == HALT_EVENT)
            return REACHED_NOT;
        over = halt.kind == HALT_POINT;
        number -= over;
    }
    return REACHED;
}

/* Makes checkpoints on the way from FROM, which takes SECONDS, to the end of the slice behind SLICE
 * events, the closer, the nearer they are to it: by a timer. Returns the last one, or NULL if the
 * user wants to stop. */
static struct checkpoint *divide_way(struct timeline *timeline, struct checkpoint *from,
                                     double seconds, uint64_t slice) {
    set_stops(timeline, true, 0);
    while (seconds > timer_least && go_to_copy(timeline, &from->stand)) {
        seconds /= 2;
        set_alarm(timeline, seconds);
        struct halt halt = advance(timeline, false);
        set_alarm(timeline, 0);
        if (halt.kind == HALT_INTERRUPT)
            return NULL;
        struct checkpoint *made = NULL;
        if (halt.kind == HALT_TIMER && timeline->here.events == slice)
            made = keep_here(timeline);
        timeline->working = from = made ? made : from;
    }
    return from;
}

/* From directly behind an event to in front of its instruction: the last pass of that in the slice
 * before. */
static enum reached undo_event(struct timeline *timeline) {
    uint64_t events = timeline->here.events, address, passes;
    enum reached reached = return_to_events(timeline, events - 1);
    if (reached != REACHED || player_is_waiting(timeline->player))
        return reached;
    struct checkpoint *begin = keep_here(timeline);
    if (!begin)
        return REACHED_NOT;
    timeline->working = begin;
    double begun = clock_seconds();
    reached = run_to_events(timeline, events);
    double seconds = clock_seconds() - begun;
    address = player_event_address(timeline->player);
    if (!timeline->here.ended && reached != REACHED)
        return reached;
    if (address && seconds > slice_long) /* the instruction may be passed often */
        begin = divide_way(timeline, begin, seconds, events - 1);
    if (!begin)
        return REACHED_STOP;
    if (!go_to_copy(timeline, &begin->stand))
        return REACHED_NOT;
    if (!address) /* a signal behind the event before */
        return REACHED;
    reached = pass_slice(timeline, address, &passes);
    if (reached == REACHED && !go_to_copy(timeline, &begin->stand))
        reached = REACHED_NOT;
    return reached == REACHED ? go_to_pass(timeline, address, passes) : reached;
}

/* Goes to one step in front of the present place, which is known by steps. */
static enum reached undo_step(struct timeline *timeline) {
    struct place wanted = timeline->here;
    const struct checkpoint *base = wanted.base;
    bool there = base ? go_to_copy(timeline, &base->stand)
                      : return_to_events(timeline, wanted.events) == REACHED;
    if (!there)
        return REACHED_NOT;
    set_stops(timeline, true, 0);
    for (uint64_t i = 0; i + 1 < wanted.steps; i++) {
        enum halt_kind kind = advance(timeline, true).kind;
        if (kind == HALT_INTERRUPT)
            return REACHED_STOP;
        if (kind != HALT_STEP)
            return REACHED_NOT;
    }
    return REACHED;
}

/* Goes back by one instruction. HALT_END: that has failed, which would be a fault of ours. */
static enum halt_kind go_back(struct timeline *timeline) {
    static const enum halt_kind kinds[] = {[REACHED] = HALT_STEP,
                                           [REACHED_STOP] = HALT_INTERRUPT,
                                           [REACHED_HALT] = HALT_END,
                                           [REACHED_NOT] = HALT_END};
    enum reached reached = REACHED;
    bool at_begin = is_slice_begin(&timeline->here) || timeline->here.ended;
    if (!at_begin) {
        reached = locate(timeline);
        at_begin = is_slice_begin(&timeline->here);
    }
    if (reached == REACHED && at_begin && timeline->here.events == 0)
        return HALT_BEGIN;
    if (reached == REACHED)
        reached = at_begin ? undo_event(timeline) : undo_step(timeline);
    return kinds[reached];
}

/* Goes back by one instruction; if that fails, nothing changes. */
static enum halt_kind go_back_or_stay(struct timeline *timeline) {
    struct stand present;
    bool kept = copy_here(timeline, &present);
    timeline->pinned = present.place.base;
    enum halt_kind kind = go_back(timeline);
    timeline->pinned = timeline->working = NULL;
    if (kept && (kind == HALT_INTERRUPT || kind == HALT_END))
        go_to_stand(timeline, &present);
    drop_stand(&present);
    return kind;
}

struct halt step_backwards(struct timeline *timeline) {
    begin_motion(timeline);
    struct halt halt = {.kind = go_back_or_stay(timeline)};
    end_motion(timeline);
    return halt;
}

/* ---- to a point ---- */

/* The last point on a way. */
struct last_hit {
    struct stand from; /* where the way to it begins, if that has a process */
    uint64_t hits;     /* points from there to it; 0: it is there */
    struct halt halt;
    bool has_many;
};

static void take_hit(struct timeline *timeline, struct last_hit *last, const struct halt *halt) {
    last->halt = *halt;
    if (++last->hits < MARK_HITS || halt->kind == HALT_SIGNAL) /* that is no place to keep */
        return;
    struct stand mark;
    if (copy_here(timeline, &mark)) {
        drop_stand(&last->from);
        last->from = mark;
        last->hits = 0;
    }
}

/* Goes the way from CHECKPOINT to the target, and finds the LAST point on it. REACHED_HALT: there
 * is one. Behind MOST points it gives up: `has_many`. */
static enum reached find_last(struct timeline *timeline, const struct checkpoint *checkpoint,
                              struct target *target, uint64_t most, struct last_hit *last) {
    struct halt halt;
    uint64_t found = 0;
    bool over = false;
    enum reached reached;
    drop_stand(&last->from);
    *last = (struct last_hit){.hits = 0};
    set_stops(timeline, false, 0);
    if (!go_to_copy(timeline, &checkpoint->stand))
        return REACHED_NOT;
    if (has_returned(timeline, &halt)) {
        found++;
        take_hit(timeline, last, &halt);
    }
    while ((reached = go_to_target(timeline, target, over, &halt)) == REACHED_HALT) {
        if (++found > most) {
            last->has_many = true;
            return REACHED_NOT;
        }
        take_hit(timeline, last, &halt);
        over = stands_in_front(halt.kind);
    }
    return found && reached == REACHED ? REACHED_HALT : reached;
}

/* Goes on to the end of the present slice, and returns the seconds that it takes. */
static double measure_slice(struct timeline *timeline) {
    struct halt halt;
    double begun = clock_seconds();
    set_stops(timeline, true, 0);
    do
        halt = advance(timeline, false);
    while (halt.kind == HALT_TIMER);
    return clock_seconds() - begun;
}

/* Makes checkpoints in the slice that ends with the target, the closer, the nearer they are to its
 * end: by a timer. */
static enum reached divide_slice(struct timeline *timeline, const struct target *target) {
    uint64_t slice = target->place.events - (target->kind == TARGET_EVENTS);
    enum reached reached = return_to_events(timeline, slice);
    struct checkpoint *last = reached == REACHED ? keep_here(timeline) : NULL;
    if (!last)
        return reached;
    timeline->working = last;
    last = divide_way(timeline, last, measure_slice(timeline), slice);
    timeline->working = NULL;
    return last ? REACHED : REACHED_STOP;
}

/* Goes to the LAST point on the way from CHECKPOINT, by its number. */
static enum reached go_to_last(struct timeline *timeline, const struct checkpoint *checkpoint,
                               struct last_hit *last) {
    bool has_mark = last->from.process;
    bool over = has_mark && (last->from.place.at_call ||
                             points_find(&timeline->points, next_instruction(last->from.process)));
    set_stops(timeline, false, 0);
    if (has_mark)
        checkpoint = keep_stand(timeline, &last->from); /* for the next way back */
    if (!checkpoint || !go_to_copy(timeline, &checkpoint->stand))
        return REACHED_NOT;
    struct halt halt;
    uint64_t i = !has_mark && has_returned(timeline, &halt);
    while (i < last->hits) {
        halt = advance(timeline, over);
        if (halt.kind == HALT_INTERRUPT)
            return REACHED_STOP;
        if (halt.kind == HALT_END)
            return REACHED_NOT;
        over = stands_in_front(halt.kind);
        i += is_hit(timeline, &halt);
    }
    return REACHED_HALT;
}

/* The first point at or behind a place, in its slice. */
struct next_hit {
    struct stand stand; /* without a process: there is none, or it is not looked for yet */
    struct wanted_state state;
    uint64_t events; /* of its slice */
};

/* Goes on with the points, up to the first one, or to the end of the slice behind EVENTS events. A
 * signal there is the end. */
static struct halt go_to_hit(struct timeline *timeline, uint64_t events) {
    static const double longest = 0.3;
    struct halt halt = {.kind = HALT_EVENT};
    set_stops(timeline, false, 0);
    set_alarm(timeline, longest);
    while (timeline->here.events <= events && !timeline->here.ended &&
           (halt.kind == HALT_EVENT ||
            (halt.kind == HALT_SIGNAL &&
             (timeline->here.events == events || !is_hit(timeline, &halt)))))
        halt = advance(timeline, false);
    set_alarm(timeline, 0);
    return halt;
}

static void find_next_hit(struct timeline *timeline, const struct stand *origin,
                          struct next_hit *next) {
    next->events = origin->place.events;
    if (origin->place.ended || origin->place.at_signal || !go_to_copy(timeline, origin))
        return;
    struct halt halt = go_to_hit(timeline, next->events);
    if (was_asked_for(halt.kind) && timeline->here.events == next->events &&
        copy_here(timeline, &next->stand))
        want_state(&next->state, next->stand.process, &next->stand.state.stacks);
}

/* Whether there is no point from CHECKPOINT to the target: the next one is at the end of the slice,
 * or behind the place where the search began. That is soon seen, where the target itself is in a
 * loop, and each pass of it would have to be looked at. */
static bool has_no_point(struct timeline *timeline, const struct checkpoint *checkpoint,
                         const struct target *target, struct next_hit *next) {
    if (target->kind != TARGET_STATE || !go_to_copy(timeline, &checkpoint->stand))
        return false;
    struct halt halt;
    set_stops(timeline, false, 0);
    if (has_returned(timeline, &halt))
        return false;
    halt = go_to_hit(timeline, target->place.events);
    if (was_asked_for(halt.kind))
        return next->stand.process && timeline->here.events == next->events &&
               is_in_state(timeline, &next->state);
    if (halt.kind == HALT_SIGNAL && is_hit(timeline, &halt))
        return false;
    return halt.kind == HALT_EVENT || halt.kind == HALT_SIGNAL || halt.kind == HALT_END;
}

/* Whether a signal that the user is told of lies between the places. */
static bool has_signal(const struct timeline *timeline, const struct place *from,
                       const struct place *later) {
    for (size_t i = 0; i < timeline->signals.count; i++) {
        const struct met_signal *met = &timeline->signals.data[i];
        if (met->events >= from->events && met->events < later->events &&
            stops_at_signal(timeline, met->number))
            return true;
    }
    return false;
}

/* Whether there is surely no point from the checkpoint FROM to LATER, so that the way need not be
 * gone: what is watched is in pages that were not written. */
static bool is_quiet(struct timeline *timeline, const struct checkpoint *from,
                     const struct stand *later, const struct stand *origin,
                     const struct target *target, const struct next_hit *next) {
    const pid_t others[] = {origin->process, target->good.process, target->shifted.process,
                            next->stand.process};
    return later->process && !has_signal(timeline, &from->stand.place, &later->place) &&
           watches_writes_alone(timeline) &&
           is_unwritten(timeline, (struct checkpoint *)from, later, others,
                        sizeof others / sizeof *others);
}

/* Goes back to the last point in front of ORIGIN, and behind LEAST events, where a checkpoint is.
 * REACHED: there is none. */
static enum reached search(struct timeline *timeline, const struct stand *origin, uint64_t least,
                           struct halt *halt) {
    struct target target = {.kind = TARGET_EVENTS};
    struct last_hit last = {.hits = 0};
    const struct checkpoint *from = checkpoint_before(timeline, &origin->place);
    enum reached reached = REACHED;
    struct next_hit next = {.events = 0};
    bool is_divided = false;
    struct stand later = *origin;
    find_next_hit(timeline, origin, &next);
    set_target(timeline, &target, origin);
    while (from && from->stand.place.events >= least && reached == REACHED) {
        bool divides = !is_divided && target.kind != TARGET_STATE && target.kind != TARGET_STEPS;
        bool quiet = !is_divided && is_quiet(timeline, from, &later, origin, &target, &next);
        if (!quiet && !has_no_point(timeline, from, &target, &next))
            reached = find_last(timeline, from, &target, divides ? HITS_MANY : UINT64_MAX, &last);
        if (last.has_many) {
            /* the hits may be in front of that slice: then it is no use, and no harm */
            reached = divide_slice(timeline, &target) == REACHED_STOP ? REACHED_STOP : REACHED;
            from = checkpoint_before(timeline, &target.place);
            is_divided = true;
            continue;
        }
        if (reached == REACHED_HALT) {
            reached = go_to_last(timeline, from, &last);
            *halt = last.halt;
        }
        drop_stand(&last.from);
        later = from->stand;
        set_target(timeline, &target, &from->stand);
        if (reached == REACHED)
            shift_target(timeline, &target, &from->stand);
        from = checkpoint_before(timeline, &from->stand.place);
        is_divided = false;
    }
    drop_stand(&last.from);
    drop_stand(&next.stand);
    forget_state(&next.state);
    forget_target(&target);
    return reached;
}

/* Where the last points may be many, as in a loop, a checkpoint close to the present place shortens
 * the way to them. Returns false if the user has stopped it. */
static bool come_near(struct timeline *timeline) {
    const struct place *here = &timeline->here;
    bool is_known = here->steps != STEPS_UNKNOWN || here->at_signal || here->ended;
    return is_known || locate(timeline) != REACHED_STOP;
}

/* Sets LEAST to the number of events behind which the present program begins, if the user is told
 * of that, and makes a checkpoint there. */
static enum reached find_least(struct timeline *timeline, uint64_t *least) {
    *least = timeline->tells_programs ? timeline->program : 0;
    if (*least == 0)
        return REACHED;
    enum reached reached = return_to_events(timeline, *least);
    return reached != REACHED || keep_here(timeline) ? reached : REACHED_NOT;
}

/* There was nothing in front of the place where it began: goes to the begin, or to where the
 * program behind LEAST events is not executed yet. */
static enum reached end_search(struct timeline *timeline, uint64_t least, struct halt *halt) {
    *halt = (struct halt){.kind = least ? HALT_PROGRAM : HALT_BEGIN};
    if (least == 0)
        return go_to_copy(timeline, &timeline->checkpoints[0]->stand) ? REACHED : REACHED_NOT;
    enum reached reached = return_to_events(timeline, least);
    return reached == REACHED ? undo_event(timeline) : reached;
}

struct halt go_backwards(struct timeline *timeline) {
    struct halt halt = {.kind = HALT_BEGIN};
    struct stand origin;
    uint64_t least = 0;
    begin_motion(timeline);
    if (!come_near(timeline)) {
        end_motion(timeline);
        return (struct halt){.kind = HALT_INTERRUPT};
    }
    timeline->pinned = timeline->here.base;
    take_here(timeline, &origin);
    enum reached reached = find_least(timeline, &least);
    if (reached == REACHED)
        reached = search(timeline, &origin, least, &halt);
    timeline->pinned = NULL;
    if (reached == REACHED_HALT && halt.kind == HALT_WATCH) {
        enum halt_kind kind = go_back(timeline);
        if (kind != HALT_STEP)
            reached = kind == HALT_INTERRUPT ? REACHED_STOP : REACHED_NOT;
    }
    if (reached == REACHED)
        reached = end_search(timeline, least, &halt);
    timeline->working = NULL;
    if (reached == REACHED_STOP || reached == REACHED_NOT) {
        halt.kind = reached == REACHED_STOP ? HALT_INTERRUPT : HALT_END;
        go_to_stand(timeline, &origin);
    }
    drop_stand(&origin);
    end_motion(timeline);
    return halt;
}

bool go_to_events(struct timeline *timeline, uint64_t events) {
    begin_motion(timeline);
    bool good = return_to_events(timeline, events) == REACHED;
    end_motion(timeline);
    return good;
}
