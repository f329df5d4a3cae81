/* trace_recording.c: quipu trace RECORDING; see trace_recording.h. */
#include "cmd/trace_recording.h"

#include "cmd/played.h"
#include "format/trace.h"
#include "retrace/retrace.h"
#include "trace/trim.h"
#include "trace/writer.h"
#include "util/diag.h"

#include <signal.h>

static void check_options(const struct collector_options *options) {
    if (options->drop || options->schedule)
        die("--drop and --schedule are not for recordings: nothing is lost, and the order of threads is known");
}

int trace_recording(const struct collector_options *options, const char *path) {
    struct arena arena = {0};
    struct playing playing = {.end = PLAYED_WRONG, .message = ""};
    check_options(options);
    signal(SIGPIPE, SIG_IGN);
    struct trace_sink *sink =
        sink_begin(&arena, options->output, options->level, options->jobs, &options->window);
    const struct retrace_options wanted = {
        .recording = path,
        .sink = sink,
        .start_every = window_is_set(&options->window) ? 1 : QUIPU_TRACE_START_EVERY};
    const char *wrong = retrace(&arena, &wanted, &playing);
    bool recorded = sink_has_records(sink);
    const char *cause = writer_end(sink_writer(sink), wrong ? QUIPU_TRACE_STOPPED : 0);
    if (!cause && options->window.first)
        (void)trim_trace(options->output); /* otherwise it stays larger */
    if (wrong && *wrong)
        error("%s", wrong);
    if (cause)
        error("%s", cause);
    if (!wrong && !recorded)
        error("'%s': the run has no code that records; build its program with 'quipu cc "
              "--quipu=moment,trace'",
              path);
    int status = wrong ? 1 : end_played(path, &playing);
    status = status || (!cause && recorded) ? status : 1;
    arena_release(&arena);
    return status;
}
