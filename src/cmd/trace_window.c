/* trace_window.c: the moments of quipu trace --from, --to; see trace_window.h. */
#include "cmd/trace_window.h"

#include "cmd/trace_input.h"
#include "trace/between.h"
#include "util/diag.h"

void need_window_moments(const char *program, const struct trace_window *window) {
    uint32_t from = window->from ? need_recording_moment(program, "from", window->from) : 0;
    uint32_t to = window->to ? need_recording_moment(program, "to", window->to) : 0;
    if (from && to && from != to)
        die("--from and --to must be moments of one thread");
}

bool came_to_moments(const char *path, const struct trace_window *window) {
    struct arena arena = {0};
    struct trace *trace;
    struct trace_step *step;
    if (!window->from && !window->to)
        return true;
    const char *cause = trace_open(&arena, path, &trace);
    if (!cause)
        cause = trace_set_between_of_window(trace);
    if (cause) {
        error("%s", cause);
        return false;
    }
    for (size_t i = 0; i < trace->threads.count; i++) {
        if (!between_has_thread(trace, trace->threads.data[i]))
            continue;
        struct trace_walk *walk = trace_begin(trace, trace->threads.data[i]);
        while (between_missed(trace) && trace_step(walk, &step))
            ;
        trace_end(walk);
    }
    const char *missed = between_missed(trace);
    if (missed)
        error("%s", missed);
    trace_close(trace);
    arena_release(&arena);
    return !missed;
}
