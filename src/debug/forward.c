/* forward.c: goes forwards as a debugger's user does; see timeline.h.
 *
 * On the way checkpoints are made, by the time that the run has taken since the last one: not by
 * that of one motion, as a user may go on in many short ones. */
#include "debug/timeline.h"

#include "util/clock.h"
#include "x86/kernel.h"

enum {
    INTERVAL = 40000, /* microseconds of the run, at least */
    SHARE = 25        /* copies take at most one in so many */
};

/* Returns the microseconds that are left until it is time for a checkpoint; 0: it is. */
static uint64_t time_left(const struct timeline *timeline) {
    const struct place *here = &timeline->here;
    const struct checkpoint *last =
        here->base ? here->base : checkpoint_for(timeline, here->events);
    uint64_t interval = SHARE * timeline->copying;
    uint64_t wanted = last->stand.clock + (interval > INTERVAL ? interval : INTERVAL);
    return wanted > timeline->clock ? wanted - timeline->clock : 0;
}

void begin_way(struct timeline *timeline) {
    timeline->until = clock_seconds() + (double)time_left(timeline) * 1e-6;
}

void keep_on_the_way(struct timeline *timeline) {
    if (time_left(timeline) == 0)
        keep_here(timeline);
    begin_way(timeline);
}

/* Another program has begun. Going backwards in it ends here. */
static struct halt begin_program(struct timeline *timeline, struct halt halt) {
    if (halt.kind == HALT_END)
        return halt;
    keep_here(timeline);
    if (timeline->tells_programs)
        return (struct halt){.kind = HALT_PROGRAM};
    return halt;
}

/* Whether the user does not see the halt. */
static bool is_on_the_way(const struct timeline *timeline, const struct halt *halt, bool step) {
    bool passes = halt->kind == HALT_SIGNAL && !stops_at_signal(timeline, halt->signal);
    return halt->kind == HALT_TIMER || passes || (halt->kind == HALT_EVENT && !step) ||
           (halt->kind == HALT_STEP && !step);
}

/* Whether the thread that comes next is that which the user steps. */
static bool is_stepper(const struct timeline *timeline) {
    player_select(timeline->player);
    return !timeline->stepper || timeline->stepper == player_thread(timeline->player);
}

struct halt go_forwards(struct timeline *timeline, bool step) {
    struct halt halt = {.kind = HALT_END};
    bool is_seen;
    if (timeline->here.ended)
        return halt;
    begin_motion(timeline);
    begin_way(timeline);
    player_select(timeline->player);
    bool over = timeline->here.at_call ||
                points_find(&timeline->points, next_instruction(timeline_process(timeline)));
    do {
        uint64_t program = timeline->program;
        bool steps = step && is_stepper(timeline);
        if (steps)
            timeline->until = 0; /* HALT_TIMER would hide that the step was made */
        halt = advance(timeline, steps || over);
        over = false;
        if (timeline->program != program)
            halt = begin_program(timeline, halt);
        else if (halt.kind == HALT_EVENT || halt.kind == HALT_TIMER)
            keep_on_the_way(timeline);
        is_seen = !is_on_the_way(timeline, &halt, steps);
    } while (!is_seen);
    end_motion(timeline);
    return halt;
}

bool go_to_end(struct timeline *timeline, uint64_t *signal) {
    struct halt halt = {.kind = HALT_END};
    begin_motion(timeline);
    begin_way(timeline);
    set_stops(timeline, true, 0);
    while (!timeline->here.ended && halt.kind != HALT_INTERRUPT) {
        halt = advance(timeline, false);
        if (halt.kind == HALT_EVENT || halt.kind == HALT_TIMER)
            keep_on_the_way(timeline);
        if (halt.kind == HALT_SIGNAL)
            *signal = timeline->here.events;
    }
    end_motion(timeline);
    return timeline->here.ended;
}
