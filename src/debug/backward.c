/* backward.c: goes backwards; see timeline.h.
 *
 * The way from the last checkpoint is gone again, up to the present place, and the last point on it
 * is remembered: by its number on this way. If there is none, the way from the checkpoint before
 * comes next, up to this one. */
#include "debug/target.h"

#include "tracee/checkpoint.h"
#include "x86/kernel.h"

enum {
    MARK_HITS = 64 /* so many are gone again at most */
};

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

/* From directly behind an event to in front of its instruction: the last pass of that in the slice
 * before. */
static enum reached undo_event(struct timeline *timeline) {
    uint64_t events = timeline->here.events, address, passes;
    enum reached reached = return_to_events(timeline, events - 1);
    if (reached != REACHED)
        return reached;
    struct checkpoint *begin = keep_here(timeline);
    if (!begin)
        return REACHED_NOT;
    timeline->working = begin;
    reached = run_to_events(timeline, events);
    address = player_event_address(timeline->player);
    if (!timeline->here.ended && reached != REACHED)
        return reached;
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
    struct halt halt = {go_back_or_stay(timeline), NULL};
    end_motion(timeline);
    return halt;
}

/* ---- to a point ---- */

/* The last point on a way. */
struct last_hit {
    struct stand from; /* where the way to it begins, if that has a process */
    uint64_t hits;     /* points from there to it; 0: it is there */
    struct halt halt;
};

static void take_hit(struct timeline *timeline, struct last_hit *last, const struct halt *halt) {
    last->halt = *halt;
    if (++last->hits < MARK_HITS)
        return;
    struct stand mark;
    if (copy_here(timeline, &mark)) {
        drop_stand(&last->from);
        last->from = mark;
        last->hits = 0;
    }
}

/* Goes the way from CHECKPOINT to the target, and finds the LAST point on it. REACHED_HALT: there
 * is one. */
static enum reached find_last(struct timeline *timeline, const struct checkpoint *checkpoint,
                              struct target *target, struct last_hit *last) {
    struct halt halt;
    bool over = false, found = false;
    enum reached reached;
    *last = (struct last_hit){.hits = 0};
    set_stops(timeline, false, 0);
    if (!go_to_copy(timeline, &checkpoint->stand))
        return REACHED_NOT;
    while ((reached = go_to_target(timeline, target, over, &halt)) == REACHED_HALT) {
        found = true;
        take_hit(timeline, last, &halt);
        over = halt.kind == HALT_POINT;
    }
    return found && reached == REACHED ? REACHED_HALT : reached;
}

/* Goes to the LAST point on the way from CHECKPOINT, by its number. */
static enum reached go_to_last(struct timeline *timeline, const struct checkpoint *checkpoint,
                               struct last_hit *last) {
    bool has_mark = last->from.process;
    bool over = has_mark && points_find(&timeline->points, next_instruction(last->from.process));
    set_stops(timeline, false, 0);
    if (!(has_mark ? go_to_stand(timeline, &last->from) : go_to_copy(timeline, &checkpoint->stand)))
        return REACHED_NOT;
    for (uint64_t i = 0; i < last->hits;) {
        struct halt halt = advance(timeline, over);
        if (halt.kind == HALT_INTERRUPT)
            return REACHED_STOP;
        if (halt.kind == HALT_END)
            return REACHED_NOT;
        over = halt.kind == HALT_POINT;
        i += halt.kind == HALT_POINT || halt.kind == HALT_WATCH;
    }
    return REACHED_HALT;
}

/* Goes back to the last point in front of ORIGIN. REACHED: there is none. */
static enum reached search(struct timeline *timeline, const struct stand *origin,
                           struct halt *halt) {
    struct target target = {.kind = TARGET_EVENTS};
    struct last_hit last = {.hits = 0};
    const struct checkpoint *from = checkpoint_before(timeline, &origin->place);
    enum reached reached = REACHED;
    set_target(&target, origin);
    while (from && reached == REACHED) {
        reached = find_last(timeline, from, &target, &last);
        if (reached == REACHED_HALT) {
            reached = go_to_last(timeline, from, &last);
            *halt = last.halt;
        }
        drop_stand(&last.from);
        set_target(&target, &from->stand);
        from = checkpoint_before(timeline, &from->stand.place);
    }
    forget_target(&target);
    return reached;
}

struct halt go_backwards(struct timeline *timeline) {
    struct halt halt = {HALT_BEGIN, NULL};
    struct stand origin;
    begin_motion(timeline);
    timeline->pinned = timeline->here.base;
    take_here(timeline, &origin);
    enum reached reached = search(timeline, &origin, &halt);
    timeline->pinned = NULL;
    if (reached == REACHED_HALT && halt.kind == HALT_WATCH && go_back(timeline) != HALT_STEP)
        reached = REACHED_STOP;
    if (reached == REACHED)
        go_to_copy(timeline, &timeline->checkpoints[0]->stand);
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
