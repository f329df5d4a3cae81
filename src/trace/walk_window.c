/* walk_window.c: which of a thread's instructions are in the trace's window; see walk.h. */
#include "trace/walk.h"

#include <string.h>

static bool is_called(const struct frame *frame, const char *function) {
    return strcmp(frame->function->name, function) == 0;
}

void walk_begin_with_start(struct trace_walk *walk) {
    const char *function = walk->trace->window.function;
    walk->begins_whole = walk_start(walk);
    walk->inside = 0;
    for (size_t i = 0; function && !walk->inside && i < walk->frames.count; i++)
        if (is_called(&walk->frames.data[i], function))
            walk->inside = i + 1;
}

/* Whether the instruction that was just executed is in the trace's window. */
static bool is_inside(struct trace_walk *walk) {
    const char *function = walk->trace->window.function;
    if (!function)
        return true;
    if (walk->inside > walk->frames.count ||
        (walk->inside && !is_called(&walk->frames.data[walk->inside - 1], function)))
        walk->inside = 0;
    if (!walk->inside && is_called(&walk->frames.data[walk->frames.count - 1], function))
        walk->inside = walk->frames.count;
    return walk->inside;
}

bool walk_gives(struct trace_walk *walk) {
    struct trace_step *step = &walk->step;
    enum between_state before = walk->where;
    if (walk->between && !between_takes(walk->between, step, &walk->where)) {
        walk->ended = walk->where == BETWEEN_BEHIND;
        return false;
    }
    if (walk->where != before) /* it begins here */
        walk->skipped = false;
    if (walk->repeats) {
        walk->repeats = false;
        walk->skipped = !is_inside(walk);
        return true;
    }
    walk->ended = walk->ends;
    if (!is_inside(walk)) {
        walk->skipped = true;
        return false;
    }
    if (walk->skipped) {
        step->gap = (struct trace_gap){.missing = 1};
        step->gap_references.count = 0;
    }
    walk->skipped = false;
    uint64_t first = walk->trace->window.first;
    walk->ended |= first && ++walk->given >= first;
    return true;
}
