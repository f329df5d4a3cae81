/* trace_recording.c: quipu trace RECORDING; see trace_recording.h. */
#include "cmd/trace_recording.h"

#include "cmd/played.h"
#include "cmd/recorded_process.h"
#include "cmd/recorded_run.h"
#include "cmd/trace_window.h"
#include "debug/server.h"
#include "format/trace.h"
#include "retrace/retrace.h"
#include "symbols/loop_forms.h"
#include "symbols/moment_name.h"
#include "trace/trim.h"
#include "trace/writer.h"
#include "util/diag.h"

#include <signal.h>
#include <stdlib.h>

static void check_options(const struct collector_options *options) {
    if (options->drop || options->schedule)
        die("--drop and --schedule are not for recordings: nothing is lost, and the order of "
            "threads is known");
}

/* Plays the recording up to the moment TEXT. Returns its name in a trace, with the number of its
 * thread. */
static const char *find_number(struct arena *arena, const char *path, const char *option,
                               const char *text) {
    struct thread_ticks ticks;
    struct timeline *timeline =
        begin_recorded_run(arena, path, process_of_moment(arena, path, text));
    const char *wrong = go_to_moment(timeline, arena, text);
    const struct binary *binary = program_of(timeline)->binary;
    if (!wrong &&
        (!read_thread_ticks(timeline, player_thread(timeline->player), 0, &ticks) || !ticks.place))
        wrong = "the thread is not in code that ticks";
    if (wrong)
        die("--%s='%s': %s", option, text, wrong);
    text =
        moment_text(arena, binary, recorded_form(binary, ticks.place), ticks.exact, ticks.number);
    end_recorded_run(timeline);
    return text;
}

/* Returns the moment TEXT as it is called in a trace. What the recorded name of a thread means only
 * the run tells.
 */
static const char *name_in_trace(struct arena *arena, const char *path, const char *option,
                                 const char *text) {
    struct moment_name name;
    const char *wrong = text ? read_recorded_moment(arena, text, &name) : NULL;
    if (!wrong && text && name.calls)
        wrong = "it is in a system call; name an instruction";
    if (wrong)
        die("--%s='%s': %s", option, text, wrong);
    return text && !name.thread ? find_number(arena, path, option, text) : text;
}

/* Makes the trace. Returns whether it has all of the run. */
static bool make_trace(struct arena *arena, const struct collector_options *options,
                       const struct trace_window *window, const char *path,
                       struct playing *playing) {
    struct trace_sink *sink =
        sink_begin(arena, options->output, options->level, options->jobs, window);
    const struct retrace_options wanted = {.recording = path,
                                           .sink = sink,
                                           .start_every =
                                               window_is_set(window) ? 1 : QUIPU_TRACE_START_EVERY};
    const char *wrong = retrace(arena, &wanted, playing);
    bool recorded = sink_has_records(sink);
    const char *cause = writer_end(sink_writer(sink), wrong ? QUIPU_TRACE_STOPPED : 0);
    if (!cause && window->first)
        (void)trim_trace(options->output); /* otherwise it stays larger */
    if (wrong && *wrong)
        error("%s", wrong);
    if (cause)
        error("%s", cause);
    if (!wrong && !recorded && playing->end == PLAYED_END)
        error("'%s': the run has no code that records; build its program with 'quipu cc "
              "--quipu=moment,trace'",
              path);
    return !wrong && !cause && recorded && came_to_moments(options->output, window);
}

int trace_recording(const struct collector_options *options, const char *path) {
    struct arena arena = {0};
    struct playing playing = {.end = PLAYED_WRONG, .message = ""};
    struct trace_window window = options->window;
    check_options(options);
    signal(SIGPIPE, SIG_IGN);
    window.from = name_in_trace(&arena, path, "from", window.from);
    window.to = name_in_trace(&arena, path, "to", window.to);
    bool is_whole = make_trace(&arena, options, &window, path, &playing);
    int status = end_played(path, &playing);
    arena_release(&arena);
    return status || is_whole ? status : EXIT_FAILURE;
}
