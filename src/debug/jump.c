/* jump.c: comes closer to a place in a loop that is passed too often to look at each pass; see
 * target.h and guide.h.
 *
 * What is guessed is checked in the end: points are inserted all the time, and the target's state
 * is reached from the last place that was taken for one in front of it. So all of the way was the
 * target's. */
#include "debug/target.h"

#include "tracee/checkpoint.h"

#include <string.h>

enum {
    PASSES_MANY = 32, /* a filter takes as long */
    PASSES_FEW = 400, /* they take some 10 milliseconds */
    GUIDES_MOST = 4,  /* the times of samples are uneven where others use the processor */
    PATIENCE = 4,     /* the next guide is looked for behind so many times as many passes */
    TRIES = 6,
    SPREAD = 3
};

/* In seconds: shorter ways are gone by passes; the least time over which words are looked at. */
static const double way_least = 0.000003, spread_least = 0.002, spread_most = 10;

bool has_many_passes(const struct target *target) {
    return target->kind == TARGET_STATE && target->passes >= PASSES_MANY;
}

bool may_jump(const struct target *target) {
    return target->kind == TARGET_STATE && !target->has_ticks &&
           (target->has_guide || target->guides < GUIDES_MOST) &&
           (target->wants_jump || target->passes >= PASSES_FEW + target->patience);
}

/* Looks for a guide over ever longer times, as the target's distance is not known, up to the end of
 * the slice. */
static void find_guide(struct timeline *timeline, struct target *target) {
    double seconds = spread_least;
    bool fits = true;
    while (fits && !target->has_guide && seconds < spread_most) {
        target->has_guide = make_guide(timeline, &target->state, seconds, &target->guide);
        fits = target->guide.samples > GUIDE_SAMPLES / 2;
        seconds *= SPREAD;
    }
    target->guides++;
}

/* Goes on for about SECONDS, or to a point. Returns whether that is still in front of the target.
 * Until the process runs, and once it is to stop, time passes that is not its own: LATENCY, which
 * is corrected by how far it has come. */
static bool try_jump(struct timeline *timeline, struct target *target, double seconds,
                     struct halt *halt) {
    static double latency;
    static const double timer_least = 0.000001;
    double before = guide_distance(timeline, &target->guide), timer = seconds + latency;
    timer = timer > timer_least ? timer : timer_least;
    set_stops(timeline, timeline->ignores_points, 0);
    set_alarm(timeline, timer);
    *halt = advance(timeline, false);
    set_alarm(timeline, 0);
    bool may_be = halt->kind == HALT_TIMER || was_asked_for(halt->kind);
    if (!may_be || timeline->here.events != target->place.events)
        return false;
    double after = guide_distance(timeline, &target->guide);
    if (halt->kind == HALT_TIMER)
        latency += (timer - (before - after) - latency) / 2;
    return is_in_front(timeline, &target->guide);
}

enum reached jump_ahead(struct timeline *timeline, struct target *target, struct halt *halt) {
    struct stand good;
    enum reached reached = REACHED;
    bool jumped = false;
    target->wants_jump = false;
    if (!target->has_guide)
        find_guide(timeline, target);
    correct_guide(timeline, &target->guide);
    target->has_guide = target->guide.count;
    target->patience = target->has_guide ? 0 : target->passes * PATIENCE;
    if (!target->has_guide || !copy_here(timeline, &good))
        return REACHED;
    double seconds = guide_distance(timeline, &target->guide) * 0.8;
    for (int i = 0; i < TRIES && reached == REACHED && seconds > way_least; i++) {
        jumped = try_jump(timeline, target, seconds, halt);
        if (jumped)
            break;
        if (halt->kind == HALT_INTERRUPT)
            reached = REACHED_STOP;
        else if (!go_to_copy(timeline, &good))
            reached = REACHED_NOT;
        seconds /= 2;
    }
    target->wants_jump = jumped;
    target->passes = 0;
    drop_stand(&target->good);
    target->good = good;
    return jumped && halt->kind != HALT_TIMER ? REACHED_HALT : reached;
}
