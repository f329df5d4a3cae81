/* forward.c: goes forwards as a debugger's user does; see timeline.h.
 *
 * On the way checkpoints are made: at events, and within slices that are long. */
#include "debug/timeline.h"

#include "util/clock.h"
#include "x86/kernel.h"

/* In seconds. */
static const double checkpoint_interval = 0.05, long_slice = 0.25;

void keep_on_the_way(struct timeline *timeline, const struct halt *halt) {
    double now = clock_seconds();
    if (halt->kind == HALT_TIMER || now - timeline->kept > checkpoint_interval)
        keep_here(timeline);
    timeline->until = timeline->kept + long_slice;
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
static bool is_on_the_way(const struct halt *halt, bool step) {
    return halt->kind == HALT_TIMER || (halt->kind == HALT_EVENT && !step) ||
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
    timeline->until = timeline->kept + long_slice;
    player_select(timeline->player);
    bool over = timeline->here.at_call ||
                points_find(&timeline->points, next_instruction(timeline_process(timeline)));
    do {
        uint64_t program = timeline->program;
        bool steps = step && is_stepper(timeline);
        halt = advance(timeline, steps || over);
        over = false;
        if (timeline->program != program)
            halt = begin_program(timeline, halt);
        else if (halt.kind == HALT_EVENT || halt.kind == HALT_TIMER)
            keep_on_the_way(timeline, &halt);
        is_seen = !is_on_the_way(&halt, steps);
    } while (!is_seen);
    end_motion(timeline);
    return halt;
}

bool go_to_end(struct timeline *timeline, uint64_t *signal) {
    struct halt halt = {.kind = HALT_END};
    begin_motion(timeline);
    timeline->until = timeline->kept + long_slice;
    set_stops(timeline, true, 0);
    while (!timeline->here.ended && halt.kind != HALT_INTERRUPT) {
        halt = advance(timeline, false);
        if (halt.kind == HALT_EVENT || halt.kind == HALT_TIMER)
            keep_on_the_way(timeline, &halt);
        if (halt.kind == HALT_SIGNAL)
            *signal = timeline->here.events;
    }
    end_motion(timeline);
    return timeline->here.ended;
}
