/* trace_input.c: traces that a command reads; see trace_input.h. */
#include "cmd/trace_input.h"

#include "symbols/binary.h"
#include "symbols/moment_name.h"
#include "trace/between.h"
#include "trace/layout.h"
#include "util/diag.h"
#include "util/near.h"
#include "util/path.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct trace *open_trace(struct arena *arena, const char *path) {
    struct trace *trace;
    const char *cause = trace_open(arena, path, &trace);
    if (!cause)
        cause = trace_lacks_records(trace);
    if (!cause)
        cause = trace_set_between_of_window(trace);
    if (cause)
        die("%s", cause);
    if (trace->cut)
        warn("'%s' is cut: it ends before what was recorded", path);
    if (trace->stopped)
        warn("'%s' ends before what it is of: the recording was stopped", path);
    if (trace->dropped)
        warn("'%s' has gaps: threads have left out records instead of waiting", path);
    if (trace->lost)
        warn("'%s' is incomplete: a program could not write all its records", path);
    return trace;
}

/* Prepares TRACE for the moments of SELECTION; otherwise it may have those of its window. */
static void select_moments(struct trace *trace, const struct trace_selection *selection) {
    const char *wrong = selection->from || selection->to
                            ? trace_set_between(trace, selection->from, selection->to)
                            : NULL;
    if (wrong)
        die("%s", wrong);
    if (trace->between && !selection->ordered && !between_is_of_one_thread(trace->between))
        die("--from and --to are moments of different threads; 'quipu print --order=global' shows "
            "all threads between them");
}

void need_moments(struct trace *trace) {
    const char *missed = between_missed(trace);
    if (missed)
        die("%s", missed);
}

const struct traced_thread **select_threads(struct arena *arena, struct trace *trace,
                                            struct trace_selection selection) {
    trace->expands = selection.expand;
    trace->parts = selection.parts;
    trace->part = selection.parts ? selection.part - 1 : 0;
    need_layouts(trace, &selection.layouts);
    select_moments(trace, &selection);
    const struct traced_thread **threads =
        ARENA_ARRAY(arena, const struct traced_thread *, trace->threads.count + 1);
    size_t count = 0;
    for (size_t i = 0; i < trace->threads.count; i++) {
        const struct traced_thread *thread = trace->threads.data[i];
        if ((!selection.process || thread->process->pid == selection.process) &&
            (!selection.thread || thread->tid == selection.thread) &&
            (!trace->between || selection.ordered || between_has_thread(trace, thread)))
            threads[count++] = thread;
    }
    if (!count && (selection.process || selection.thread))
        die("'%s': none of the trace is of this %s; 'quipu info' lists its processes and threads",
            trace->path, selection.thread ? "thread" : "process");
    return threads;
}

bool read_ratio(const char *word, uint32_t *number, uint32_t *count) {
    uint32_t *numbers[] = {number, count};
    for (int i = 0; i < 2; i++) {
        char *end;
        errno = 0;
        unsigned long value = strtoul(word, &end, 10);
        if (!isdigit((unsigned char)*word) || errno || value > UINT32_MAX || value < 1 ||
            *end != (i == 0 ? '/' : '\0'))
            return false;
        *numbers[i] = (uint32_t)value;
        word = end + 1;
    }
    return *number <= *count;
}

void read_part(uint32_t *part, uint32_t *parts, const char *word) {
    if (!read_ratio(word, part, parts))
        die("--part='%s': not a part such as 1/4, the first one of four", word);
}

void report_trace_fault(const struct trace *trace, const struct traced_thread *thread,
                        const char *fault) {
    error("'%s': the records of thread %u cannot be followed to their end: %s", trace->path,
          thread->tid, fault);
}

/* Whether MODULE has a function with the wanted name. Offers the names of the others. */
static bool has_function(const struct traced_module *module, struct near_names *near_names) {
    for (size_t i = 0; i < module->functions.count; i++) {
        if (strcmp(module->functions.data[i].name, near_names->wanted) == 0)
            return true;
        offer_name(near_names, module->functions.data[i].name);
    }
    return false;
}

void need_function(const struct trace *trace, const char *name) {
    struct near_names near_names = {.wanted = name};
    for (size_t i = 0; i < trace->modules.count; i++)
        if (has_function(trace->modules.data[i], &near_names))
            return;
    die_near(&near_names, "'%s': '%s' has no such function that records", name, trace->path);
}

void need_recording_function(const char *program, const char *name) {
    struct arena arena = {0};
    struct traced_module module = {.path = find_program(&arena, program)};
    struct near_names near_names = {.wanted = name};
    if (!module.path || binary_open(&arena, module.path, &module.binary))
        return;
    const char *cause = read_trace_notes(&arena, &module);
    if (!cause && module.functions.count && !has_function(&module, &near_names))
        die_near(&near_names, "--function='%s': '%s' has no such function that records", name,
                 module.path);
    binary_close(module.binary);
    arena_release(&arena);
}

uint32_t need_recording_moment(const char *program, const char *option, const char *text) {
    struct arena arena = {0};
    struct traced_module module = {.path = find_program(&arena, program)};
    struct moment_name name;
    address_list places = {0};
    const char *wrong = read_moment(&arena, text, &name);
    if (wrong)
        die("--%s='%s': %s", option, text, wrong);
    uint32_t thread = name.thread;
    if (!module.path || binary_open(&arena, module.path, &module.binary))
        return thread;
    const struct binary *binary = module.binary;
    bool of_program =
        !*name.build || is_build_id(binary->build_id, binary->build_id_size, name.build);
    if (of_program && !read_trace_notes(&arena, &module) && module.functions.count) {
        if (!module.ticks)
            die("--%s='%s': '%s' has no moments; build it with 'quipu cc --quipu=moment,trace'",
                option, text, module.path);
        wrong = find_places(&arena, binary, &name, &places);
    }
    if (wrong)
        die("--%s='%s': %s", option, text, wrong);
    binary_close(module.binary);
    arena_release(&arena);
    return thread;
}

uint64_t read_number(const char *option, const char *word, uint64_t most) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    if (!isdigit((unsigned char)*word) || *end || errno || value > most)
        die("--%s='%s': not a number from 0 to %llu", option, word, (unsigned long long)most);
    return value;
}
