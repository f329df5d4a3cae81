/* export_trace.c: quipu export of a trace; see export_trace.h. */
#include "cmd/export_trace.h"

#include "cmd/trace_jobs.h"
#include "report/output.h"
#include "util/diag.h"
#include "util/near.h"

#include <string.h>
#include <unistd.h>

static const char *format_at(size_t number) {
    return number < trace_export_count ? trace_exports[number].name : NULL;
}

static FILE *begin(const struct trace_export *format, const char *output) {
    if (!format->binary)
        return begin_raw_output(output);
    if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO))
        die("--to=%s is no text, and standard output is a terminal; give a file with -o",
            format->name);
    return begin_output(output);
}

/* Writes a part of a thread, in a process of --jobs. */
static const char *export_task(void *context, const struct trace_task *task, FILE *out) {
    const struct trace_export *format = *(const struct trace_export **)context;
    return format->write(task->trace, task->thread, out);
}

/* Writes THREADS in this process. Returns the exit status. */
static int export_all(const struct trace_export *format, struct trace *trace,
                      const struct traced_thread **threads, FILE *out) {
    int status = 0;
    for (; *threads && !ferror(out); threads++) {
        const char *fault = format->write(trace, *threads, out);
        if (fault) {
            report_trace_fault(trace, *threads, fault);
            status = 1;
        }
    }
    return status;
}

int export_trace(const char *path, const char *to, struct trace_selection selection, unsigned jobs,
                 const char *output) {
    struct arena arena = {0};
    const struct trace_export *format =
        &trace_exports[choose_name("--to", "format for traces", to, format_at)];
    struct trace *trace = open_trace(&arena, path);
    const struct traced_thread **threads = select_threads(&arena, trace, selection);
    if (format->one_thread && threads[0] && threads[1])
        die("'%s' has several threads, and --to=%s writes one; choose it with --thread=TID, "
            "'quipu info' lists them",
            path, format->name);
    if (jobs > 1 && selection.parts)
        die("--jobs is for a whole trace; leave it out with --part");
    FILE *out = begin(format, output);
    int status = jobs > 1 ? write_by_jobs(jobs, trace, threads, out, export_task, &format)
                          : export_all(format, trace, threads, out);
    end_output(out, output);
    trace_close(trace);
    arena_release(&arena);
    return status;
}
