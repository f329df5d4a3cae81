/* info_trace.c: quipu info of a trace; see info_trace.h. */
#include "cmd/info_trace.h"

#include "data/profile.h"
#include "report/name_style.h"
#include "trace/gap.h"
#include "trace/order.h"
#include "util/diag.h"
#include "util/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- of a binary ---- */

/* What its traced functions record. */
struct recorded {
    uint64_t functions, records, with_values;
};

static struct recorded count_recorded(struct arena *arena, const char *path,
                                      struct binary *binary) {
    struct traced_module module = {.path = path, .binary = binary};
    const char *cause = read_trace_notes(arena, &module);
    if (cause)
        die("'%s': %s", path, cause);
    struct recorded recorded = {.functions = module.functions.count};
    for (size_t i = 0; i < module.functions.count; i++) {
        const struct traced_function *function = &module.functions.data[i];
        recorded.records += function->record_count;
        for (uint32_t j = 0; j < function->record_count; j++)
            recorded.with_values += function->records[j].registers != 0;
    }
    return recorded;
}

void write_text_recorded(FILE *out, struct arena *arena, const char *path, struct binary *binary) {
    struct recorded recorded = count_recorded(arena, path, binary);
    if (recorded.functions)
        fprintf(out,
                "  traced        %" PRIu64 " function%s with %" PRIu64 " records, %" PRIu64
                " of them with values\n",
                recorded.functions, recorded.functions == 1 ? "" : "s", recorded.records,
                recorded.with_values);
}

void write_json_recorded(struct json_writer *json, struct arena *arena, const char *path,
                         struct binary *binary) {
    struct recorded recorded = count_recorded(arena, path, binary);
    json_unsigned(json, "traced_functions", recorded.functions);
    json_unsigned(json, "records", recorded.records);
    json_unsigned(json, "records_with_values", recorded.with_values);
}

/* ---- facts ---- */

/* What the bytes of records are for, in text and as members in JSON. */
static const struct {
    const char *text, *member;
} kinds[BYTES_KINDS] = {
    [BYTES_WITNESSES] = {"of the path", "path"},
    [BYTES_SYNCS] = {"of calls and returns", "calls"},
    [BYTES_VALUES] = {"of values of registers", "values"},
    [BYTES_HALVES] = {"of values of 32 bits", "narrow_values"},
    [BYTES_VECTORS] = {"of vectors and masks", "vectors"},
    [BYTES_SIGNALS] = {"of signals", "signals"},
    [BYTES_ORDER] = {"of the order of threads", "order"},
    [BYTES_MEASURED] = {"of what untraced calls accessed", "accesses_of_calls"},
};

static uint64_t record_bytes_of(const struct thread_sums *sums) {
    uint64_t bytes = 0;
    for (int kind = 0; kind < BYTES_KINDS; kind++)
        bytes += sums->records.bytes[kind];
    return bytes;
}

static void add_references(struct thread_sums *sums, const struct trace_step *step) {
    for (size_t i = 0; i < step->references.count; i++) {
        const struct reference *reference = &step->references.data[i];
        *(reference->writes ? &sums->writes : &sums->reads) += 1;
        *(reference->writes ? &sums->written_bytes : &sums->read_bytes) += reference->size;
    }
}

/* Gaps of a trace. */
struct gap_counts {
    struct gap_names names;
    struct map numbers; /* in `sums`, by name */
    VECTOR(struct gap_sum) sums;
};

/* Counts GAP if it is one. */
static void count_gap(struct gap_counts *counts, struct thread_sums *sums,
                      const struct trace_gap *gap) {
    if (!is_gap(gap))
        return;
    const char *name = gap_name(&counts->names, gap);
    uint32_t number = *map_add(&counts->names.arena, &counts->numbers, name, strlen(name),
                               (uint32_t)counts->sums.count);
    if (number == counts->sums.count)
        vector_push(&counts->names.arena, &counts->sums, ((struct gap_sum){name, 0}));
    vector_at(&counts->sums, number)->count++;
    sums->gaps++;
}

static void add_step(struct thread_sums *sums, struct gap_counts *gaps,
                     const struct trace_step *step) {
    sums->instructions++;
    add_references(sums, step);
    count_gap(gaps, sums, &step->gap);
}

/* Adds what is behind the last instruction of WALK. */
static void end_sums(struct thread_sums *sums, struct gap_counts *gaps, struct trace_walk *walk) {
    const reference_list *references;
    struct trace_gap last = trace_last_gap(walk, &references);
    count_gap(gaps, sums, &last);
    sums->records = *trace_record_sums(walk);
    sums->fault = trace_fault(walk);
}

static struct thread_sums sum_thread(struct trace *trace, const struct traced_thread *thread,
                                     struct gap_counts *gaps) {
    struct thread_sums sums = {.thread = thread};
    struct trace_walk *walk = trace_begin(trace, thread);
    struct trace_step *step;
    while (trace_step(walk, &step))
        add_step(&sums, gaps, step);
    end_sums(&sums, gaps, walk);
    trace_end(walk);
    return sums;
}

/* Adds up the threads of FACTS one after the other. */
static void sum_threads(struct arena *arena, struct trace_facts *facts, struct gap_counts *gaps) {
    size_t count = facts->trace->threads.count;
    for (size_t i = 0; i < count; i++) {
        report_progress("threads", i, count);
        vector_push(arena, &facts->threads,
                    sum_thread(facts->trace, facts->trace->threads.data[i], gaps));
    }
    report_progress("threads", count, count);
}

/* Adds up all threads in their order on one processor, and its switches. */
static void sum_in_order(struct arena *arena, struct trace_facts *facts, struct gap_counts *gaps) {
    struct trace *trace = facts->trace;
    struct ordered_step next;
    struct trace_order *order = trace_order_begin(
        trace, (const struct traced_thread *const *)trace->threads.data, trace->threads.count);
    for (size_t i = 0; i < trace->threads.count; i++)
        vector_push(arena, &facts->threads,
                    ((struct thread_sums){.thread = trace->threads.data[i]}));
    trace_order_tell_switches(order);
    while (trace_order_step(order, &next)) {
        if (next.step)
            add_step(&facts->threads.data[next.thread], gaps, next.step);
        else
            add_switch(&facts->schedule, &next.leaves);
    }
    for (size_t i = 0; i < trace->threads.count; i++)
        end_sums(&facts->threads.data[i], gaps, trace_order_walk(order, i));
    trace_order_end(order);
}

static int compare_gaps(const void *a, const void *b) {
    const struct gap_sum *first = a, *second = b;
    if (first->count != second->count)
        return first->count < second->count ? 1 : -1;
    return strcmp(first->name, second->name);
}

static struct trace_facts look_at_trace(struct arena *arena, const char *path) {
    struct trace_facts facts = {0};
    const char *cause = trace_open(arena, path, &facts.trace);
    if (cause)
        die("%s", cause);
    struct gap_counts gaps = {0};
    (facts.trace->schedule ? sum_in_order : sum_threads)(arena, &facts, &gaps);
    for (size_t i = 0; i < gaps.sums.count; i++) {
        struct gap_sum sum = gaps.sums.data[i];
        sum.name = arena_copy(arena, sum.name, strlen(sum.name));
        vector_push(arena, &facts.gaps, sum);
    }
    if (facts.gaps.count)
        qsort(facts.gaps.data, facts.gaps.count, sizeof *facts.gaps.data, compare_gaps);
    gap_names_release(&gaps.names);
    return facts;
}

trace_list look_at_traces(struct arena *arena, char **paths, size_t count) {
    trace_list traces = {0};
    for (size_t i = 0; i < count; i++)
        if (trace_is(paths[i]))
            vector_push(arena, &traces, look_at_trace(arena, paths[i]));
    return traces;
}

static struct thread_sums add_up(const struct trace_facts *facts) {
    struct thread_sums all = {0};
    for (size_t i = 0; i < facts->threads.count; i++) {
        const struct thread_sums *one = &facts->threads.data[i];
        all.instructions += one->instructions;
        all.reads += one->reads;
        all.writes += one->writes;
        all.read_bytes += one->read_bytes;
        all.written_bytes += one->written_bytes;
        for (int kind = 0; kind < BYTES_KINDS; kind++)
            all.records.bytes[kind] += one->records.bytes[kind];
        all.gaps += one->gaps;
    }
    return all;
}

static double bytes_an_instruction(uint64_t bytes, const struct thread_sums *sums) {
    return sums->instructions ? (double)bytes / (double)sums->instructions : 0;
}

/* ---- text ---- */

/* Writes what is missing, or that nothing is. */
static void write_missing(FILE *out, const struct trace_facts *facts) {
    const struct trace *trace = facts->trace;
    bool complete =
        !trace->cut && !trace->lost && !trace->stopped && !window_is_set(&trace->window);
    complete &= !trace->dropped && !trace->other;
    if (trace->dropped)
        fprintf(out, "  missing       records: threads have left them out instead of waiting\n");
    if (trace->other)
        fprintf(out,
                "  missing       a program that was built for another format of traces; build it "
                "again\n");
    if (window_is_set(&trace->window))
        fprintf(out, "  missing       what is not in the window\n");
    if (trace->cut)
        fprintf(out, "  missing       the end: the file was cut, or its recording was killed\n");
    if (trace->stopped)
        fprintf(out, "  missing       what ran on when the recording was stopped\n");
    if (trace->lost)
        fprintf(out, "  missing       records: a program had no room for all of them\n");
    for (size_t i = 0; i < facts->threads.count; i++) {
        const struct thread_sums *sums = &facts->threads.data[i];
        if (sums->fault)
            fprintf(out, "  missing       the rest of thread %" PRIu32 ": %s\n", sums->thread->tid,
                    sums->fault);
        complete &= !sums->fault;
    }
    if (complete)
        fprintf(out, "  missing       nothing\n");
}

/* Writes what of the run the trace has, if that is not all. */
static void write_window(FILE *out, const struct trace_window *window) {
    if (window->function)
        fprintf(out, "  window        while '%s' was called\n", window->function);
    if (window->from)
        print_line(out, "  window        from %s", window->from);
    if (window->to)
        print_line(out, "  window        to %s", window->to);
    if (window->first)
        fprintf(out, "  window        the first %" PRIu64 " instructions of each thread\n",
                window->first);
    if (window->of)
        fprintf(out, "  window        %" PRIu32 " of each %" PRIu32 " buffers of a thread\n",
                window->keep, window->of);
}

/* Writes how many bytes the records have, and what for. */
static void write_record_bytes(FILE *out, const struct thread_sums *sums) {
    uint64_t bytes = record_bytes_of(sums);
    fprintf(out, "  records       %" PRIu64 " bytes, %.3f an instruction\n", bytes,
            bytes_an_instruction(bytes, sums));
    for (int kind = 0; kind < BYTES_KINDS; kind++)
        if (sums->records.bytes[kind])
            fprintf(out, "    %" PRIu64 " %s\n", sums->records.bytes[kind], kinds[kind].text);
}

void write_text_trace(FILE *out, const struct trace_facts *facts) {
    const struct trace *trace = facts->trace;
    struct thread_sums all = add_up(facts);
    print_line(out, "%s", trace->path);
    write_window(out, &trace->window);
    fprintf(out, "  processes     %zu\n", trace->processes.count);
    fprintf(out, "  threads       %zu\n", trace->threads.count);
    fprintf(out, "  instructions  %" PRIu64 " executed\n", all.instructions);
    fprintf(out,
            "  references    %" PRIu64 ": %" PRIu64 " reads of %" PRIu64 " bytes, %" PRIu64
            " writes of %" PRIu64 " bytes\n",
            all.reads + all.writes, all.reads, all.read_bytes, all.writes, all.written_bytes);
    write_record_bytes(out, &all);
    fprintf(out, "  stored in     %zu bytes, %.3f an instruction\n", trace->size,
            bytes_an_instruction(trace->size, &all));
    fprintf(out, "  gaps          %" PRIu64 ", of code that is not traced\n", all.gaps);
    struct arena names = {0};
    for (size_t i = 0; i < facts->gaps.count; i++)
        print_line(out, "    %" PRIu64 " %s", facts->gaps.data[i].count,
                   styled_symbols(&names, NAMES_SHORT, facts->gaps.data[i].name));
    arena_release(&names);
    write_text_schedule(out, trace, &facts->schedule);
    write_missing(out, facts);
    for (size_t i = 0; i < facts->threads.count; i++) {
        const struct thread_sums *sums = &facts->threads.data[i];
        fprintf(out,
                "    process %" PRIu32 " thread %" PRIu32 ": %" PRIu64 " instructions, %" PRIu64
                " reads, %" PRIu64 " writes, %" PRIu64 " bytes\n",
                sums->thread->process->pid, sums->thread->tid, sums->instructions, sums->reads,
                sums->writes, record_bytes_of(sums));
    }
    fprintf(out, "  modules       %zu\n", trace->modules.count);
    for (size_t i = 0; i < trace->modules.count; i++)
        print_line(out, "    %s", trace->modules.data[i]->path);
}

/* ---- JSON ---- */

static void write_json_thread(struct json_writer *json, const struct thread_sums *sums) {
    json_open_object(json, NULL);
    json_unsigned(json, "process", sums->thread->process->pid);
    json_unsigned(json, "thread", sums->thread->tid);
    json_unsigned(json, "instructions", sums->instructions);
    json_unsigned(json, "reads", sums->reads);
    json_unsigned(json, "read_bytes", sums->read_bytes);
    json_unsigned(json, "writes", sums->writes);
    json_unsigned(json, "written_bytes", sums->written_bytes);
    json_unsigned(json, "record_bytes", record_bytes_of(sums));
    json_open_object(json, "bytes");
    for (int kind = 0; kind < BYTES_KINDS; kind++)
        json_unsigned(json, kinds[kind].member, sums->records.bytes[kind]);
    json_close(json);
    json_unsigned(json, "gaps", sums->gaps);
    if (sums->fault)
        json_string(json, "fault", sums->fault);
    else
        json_null(json, "fault");
    json_close(json);
}

static void write_json_name(struct json_writer *json, const char *member, const char *name) {
    if (name)
        json_string(json, member, name);
    else
        json_null(json, member);
}

static void write_json_window(struct json_writer *json, const struct trace_window *window) {
    if (!window_is_set(window)) {
        json_null(json, "window");
        return;
    }
    json_open_object(json, "window");
    write_json_name(json, "function", window->function);
    write_json_name(json, "from", window->from);
    write_json_name(json, "to", window->to);
    json_unsigned(json, "first", window->first);
    json_unsigned(json, "keep", window->keep);
    json_unsigned(json, "of", window->of);
    json_close(json);
}

void write_json_trace(struct json_writer *json, const struct trace_facts *facts) {
    const struct trace *trace = facts->trace;
    json_open_object(json, NULL);
    json_string(json, "file", trace->path);
    json_unsigned(json, "bytes", trace->size);
    json_bool(json, "cut", trace->cut);
    json_bool(json, "stopped", trace->stopped);
    json_bool(json, "lost", trace->lost);
    json_bool(json, "dropped", trace->dropped);
    json_bool(json, "other_format", trace->other);
    write_json_window(json, &trace->window);
    write_json_schedule(json, trace, &facts->schedule);
    json_open_array(json, "threads");
    for (size_t i = 0; i < facts->threads.count; i++)
        write_json_thread(json, &facts->threads.data[i]);
    json_close(json);
    json_open_array(json, "gaps");
    struct arena names = {0};
    for (size_t i = 0; i < facts->gaps.count; i++) {
        json_open_object(json, NULL);
        json_string(json, "callee", facts->gaps.data[i].name);
        json_string(json, "demangled",
                    styled_symbols(&names, NAMES_FULL, facts->gaps.data[i].name));
        json_unsigned(json, "count", facts->gaps.data[i].count);
        json_close(json);
    }
    arena_release(&names);
    json_close(json);
    json_open_array(json, "modules");
    for (size_t i = 0; i < trace->modules.count; i++)
        json_string(json, NULL, trace->modules.data[i]->path);
    json_close(json);
    json_close(json);
}
