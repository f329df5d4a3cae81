/* info.c: quipu info [--format=text|json] [BINARY|DATA|TRACE|RECORDING...]: shows which code is
 * instrumented, which was left alone and why, and what a data file, a trace or a recording
 * contains; with --pid PID, what is watched. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/info_recording.h"
#include "cmd/info_trace.h"
#include "cmd/info_watch.h"

#include "data/calls.h"
#include "report/json_writer.h"
#include "report/output.h"
#include "report/pager.h"
#include "report/progress.h"
#include "report/style.h"
#include "report/view.h"
#include "symbols/demangle.h"
#include "util/diag.h"
#include "util/map.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_help(void) {
    fputs(
        "usage: quipu info [--format=text|json] [--pid=PID]\n"
        "                  [BINARY|DATA|TRACE|RECORDING...]\n\n"
        "Of a program or shared object: its units, how many functions are instrumented, how many\n"
        "cells they have, and what was left alone and why.  Of a data file or a directory of them\n"
        "($QUIPU_DATA or quipu.data where nothing is named): processes, threads, calling contexts,\n"
        "modules.  Of a trace: processes, threads, instructions, references, bytes, and whether\n"
        "anything is missing.  Of a recording ('quipu record'): the program, system calls, signals,\n"
        "bytes, and how it ends.  Of a process that runs: what is watched.\n\n"
        "      --pid=PID        process PID, which was built with --quipu=watch\n"
        "      --format=FORMAT  text (default) or json\n"
        "      --no-pager       a terminal gets all at once, not by QUIPU_PAGER\n"
        "  -o, --output=FILE    write there, compressed where the name ends in .gz\n",
        stdout);
}

enum {
    UNIT_NAMES_WIDTH = 92 /* of a line of unit names, without its indentation */
};

/* ---- facts ---- */

/* Sums over the functions of a module. */
struct module_sums {
    uint64_t instructions, blocks, edges;
};

static struct module_sums sum_module(const struct module *module) {
    struct module_sums sums = {0};
    for (size_t i = 0; i < module->functions.count; i++) {
        sums.instructions += module->functions.data[i].instruction_count;
        sums.blocks += module->functions.data[i].block_count;
        sums.edges += module->functions.data[i].edge_count;
    }
    return sums;
}

/* A function that was left alone, and the number of units in which it was. */
struct left_alone_sum {
    const char *name, *reason;
    uint32_t units;
};

typedef VECTOR(struct left_alone_sum) left_alone_sums;

/* Returns the functions of MODULE that were left alone, each name and reason once: an inline
 * function may have been left alone in many units. */
static left_alone_sums sum_left_alone(struct arena *arena, const struct module *module) {
    left_alone_sums sums = {0};
    struct map known = {0};
    for (size_t i = 0; i < module->left_alone.count; i++) {
        const struct left_alone *left = &module->left_alone.data[i];
        const char *key = arena_print(arena, "%s\n%s", left->name, left->reason);
        uint32_t number = *map_add(arena, &known, key, strlen(key), (uint32_t)sums.count);
        if (number == sums.count)
            vector_push(arena, &sums, ((struct left_alone_sum){left->name, left->reason, 0}));
        vector_at(&sums, number)->units++;
    }
    return sums;
}

/* Returns what each process has executed. */
static const struct part *count_processes(struct arena *arena, const struct profile *profile) {
    struct part *parts = ARENA_ARRAY(arena, struct part, profile->processes.count);
    for (size_t i = 0; i < profile->processes.count; i++) {
        const struct process *process = &profile->processes.data[i];
        parts[i].selection.process = process;
        parts[i].modules = ARENA_ARRAY(arena, uint64_t, process->modules.count);
    }
    count_parts(profile, parts, profile->processes.count, NULL, NULL);
    return parts;
}

/* ---- text ---- */

static bool made_alike(const struct unit_note *a, const struct unit_note *b) {
    return strcmp(a->version, b->version) == 0 && strcmp(a->options, b->options) == 0 &&
           strcmp(a->compiler, b->compiler) == 0;
}

/* Writes the names of unit FIRST and of the later ones that were made in the same way, in lines of
 * limited width. Marks them in TOLD. */
static void write_unit_names(FILE *out, struct arena *arena, const struct module *module,
                             size_t first, bool *told) {
    const struct unit_note *units = module->units.data;
    const char *line = "";
    for (size_t i = first; i < module->units.count; i++) {
        if (told[i] || !made_alike(&units[i], &units[first]))
            continue;
        told[i] = true;
        if (*line && strlen(line) + strlen(units[i].source) > UNIT_NAMES_WIDTH) {
            print_line(out, "      %s", line);
            line = "";
        }
        line = arena_print(arena, "%s%s%s", line, *line ? " " : "", units[i].source);
    }
    print_line(out, "      %s", line);
}

/* Writes the units, grouped by what they were made with. Most modules have only one group. */
static void write_text_units(FILE *out, struct arena *arena, const struct module *module) {
    bool *told = ARENA_ARRAY(arena, bool, module->units.count);
    fprintf(out, "  units         %zu\n", module->units.count);
    for (size_t i = 0; i < module->units.count; i++) {
        const struct unit_note *unit = &module->units.data[i];
        if (told[i])
            continue;
        print_line(out, "    quipu %s, %s%s%s", unit->version, unit->options,
                   *unit->compiler ? ", " : "", unit->compiler);
        write_unit_names(out, arena, module, i, told);
    }
}

static void write_text_left_alone(FILE *out, struct arena *arena, const struct module *module) {
    left_alone_sums sums = sum_left_alone(arena, module);
    fprintf(out, "  left alone    %zu\n", sums.count);
    for (size_t i = 0; i < sums.count; i++) {
        const struct left_alone_sum *left = &sums.data[i];
        const char *units =
            left->units > 1 ? arena_print(arena, " (in %" PRIu32 " units)", left->units) : "";
        print_line(out, "    %s: %s%s", short_name(arena, demangle(arena, left->name)),
                   left->reason, units);
    }
}

static void write_text_module(FILE *out, struct arena *arena, const struct module *module) {
    const char *build_id = build_id_text(arena, module);
    struct module_sums sums = sum_module(module);
    print_line(out, "%s", module->path);
    fprintf(out, "  build id      %s\n", *build_id ? build_id : "none");
    if (!module->units.count && !module->functions.count)
        fprintf(out, "  instrumented  nothing; compile with 'quipu cc'\n");
    else if (!module->functions.count)
        fprintf(out, "  instrumented  %zu unit%s, with no counts of functions\n",
                module->units.count, module->units.count == 1 ? "" : "s");
    else
        fprintf(out,
                "  instrumented  %zu function%s, %" PRIu64 " instructions, %" PRIu64
                " blocks, %" PRIu64 " edges\n",
                module->functions.count, module->functions.count == 1 ? "" : "s", sums.instructions,
                sums.blocks, sums.edges);
    fprintf(out, "  cells         %" PRIu64 ", %" PRIu64 " bytes a thread\n", module->cell_count,
            module->cell_count * sizeof(uint64_t));
    if (module->binary) {
        write_text_checks(out, module->binary);
        write_text_recorded(out, arena, module->path, module->binary);
    }
    fprintf(out, "  notes         %" PRIu64 " bytes\n", module->note_size);
    write_text_left_alone(out, arena, module);
    write_text_units(out, arena, module);
}

static size_t count_slots(const struct process *process, size_t module) {
    size_t slots = 0;
    for (size_t i = 0; i < process->threads.count; i++)
        slots += process->threads.data[i].module_number == module;
    return slots;
}

static void write_field(FILE *out, const char *name, const char *text) {
    print_line(out, "  %-12s  %s", name, text);
}

/* Whether instructions are counted by function. Builds with --quipu=event alone, for example, have
 * no such counts; they would look as if they had executed nothing. */
static bool counts_functions(const struct process *process) {
    for (size_t i = 0; i < process->modules.count; i++)
        if (process->modules.data[i]->functions.count)
            return true;
    return false;
}

static void write_text_process(FILE *out, struct arena *arena, const struct part *part) {
    const struct process *process = part->selection.process;
    print_line(out, "%s%s%s", process->file, process->merged ? " (merged)" : "",
               process->incomplete ? " (incomplete)" : "");
    write_field(out, "program", process->program);
    write_field(out, "command", process->command);
    if (process->pid)
        fprintf(out, "  process       %" PRIu32 ", parent %" PRIu32 "\n", process->pid,
                process->parent_pid);
    fprintf(out, "  start         %s\n", time_text(arena, process->start_time));
    fprintf(out, "  threads       %" PRIu64 "\n", count_threads(process));
    if (counts_functions(process))
        fprintf(out, "  instructions  %" PRIu64 " executed\n", part->executed);
    if (contexts_count(process))
        fprintf(out, "  calls         %" PRIu64 " contexts\n", contexts_count(process));
    fprintf(out, "  modules       %zu\n", process->modules.count);
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct module *module = process->modules.data[i];
        if (!module->binary) {
            print_line(out, "    %s: the file is gone; its counts are left out", module->path);
            continue;
        }
        size_t slots = count_slots(process, i);
        const char *executed =
            module->functions.count
                ? arena_print(arena, "%" PRIu64 " instructions executed, ", part->modules[i])
                : "";
        print_line(out, "    %s: %s%zu slot%s of %" PRIu64 " cells", module->path, executed, slots,
                   slots == 1 ? "" : "s", module->cell_count);
    }
}

static void write_text(FILE *out, struct arena *arena, const struct profile *profile) {
    const struct part *parts = count_processes(arena, profile);
    for (size_t i = 0; i < profile->processes.count; i++)
        write_text_process(out, arena, &parts[i]);
    for (size_t i = 0; i < profile->left_out.count; i++) {
        print_line(out, "%s (left out)", profile->left_out.data[i].file);
        write_field(out, "reason", profile->left_out.data[i].reason);
    }
    for (size_t i = 0; i < profile->modules.count; i++)
        write_text_module(out, arena, profile->modules.data[i]);
}

/* ---- JSON ---- */

static void write_json_module(struct json_writer *json, struct arena *arena,
                              const struct module *module) {
    struct module_sums sums = sum_module(module);
    left_alone_sums left = sum_left_alone(arena, module);
    json_open_object(json, NULL);
    json_string(json, "path", module->path);
    json_string(json, "build_id", build_id_text(arena, module));
    json_unsigned(json, "functions", module->functions.count);
    json_unsigned(json, "instructions", sums.instructions);
    json_unsigned(json, "blocks", sums.blocks);
    json_unsigned(json, "edges", sums.edges);
    json_unsigned(json, "cells", module->cell_count);
    json_unsigned(json, "note_bytes", module->note_size);
    if (module->binary) {
        write_json_checks(json, module->binary);
        write_json_recorded(json, arena, module->path, module->binary);
    }
    json_open_array(json, "units");
    for (size_t i = 0; i < module->units.count; i++) {
        json_open_object(json, NULL);
        json_string(json, "source", module->units.data[i].source);
        json_string(json, "compiler", module->units.data[i].compiler);
        json_string(json, "version", module->units.data[i].version);
        json_string(json, "options", module->units.data[i].options);
        json_close(json);
    }
    json_close(json);
    json_open_array(json, "left_alone");
    for (size_t i = 0; i < left.count; i++) {
        json_open_object(json, NULL);
        json_string(json, "name", left.data[i].name);
        json_string(json, "demangled", demangle(arena, left.data[i].name));
        json_string(json, "reason", left.data[i].reason);
        json_unsigned(json, "units", left.data[i].units);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static void write_json_process(struct json_writer *json, struct arena *arena,
                               const struct part *part) {
    const struct process *process = part->selection.process;
    json_open_object(json, NULL);
    json_string(json, "file", process->file);
    json_bool(json, "merged", process->merged);
    json_bool(json, "incomplete", process->incomplete);
    json_string(json, "program", process->program);
    json_string(json, "command", process->command);
    json_unsigned(json, "process", process->pid);
    json_unsigned(json, "parent", process->parent_pid);
    json_string(json, "start", time_text(arena, process->start_time));
    json_unsigned(json, "threads", count_threads(process));
    json_unsigned(json, "instructions", part->executed);
    json_unsigned(json, "contexts", contexts_count(process));
    json_open_array(json, "modules");
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct module *module = process->modules.data[i];
        json_open_object(json, NULL);
        json_string(json, "path", module->path);
        json_unsigned(json, "instructions", part->modules[i]);
        json_unsigned(json, "slots", count_slots(process, i));
        json_bool(json, "gone", !module->binary);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static void write_json_left_out(struct json_writer *json, const struct left_out *left) {
    json_open_object(json, NULL);
    json_string(json, "file", left->file);
    json_string(json, "reason", left->reason);
    json_close(json);
}

/* ---- the command ---- */

/* The profile of each path. */
typedef VECTOR(struct profile *) profile_list;

/* WATCHING is NULL if no process was named. */
static void write_json(FILE *out, struct arena *arena, const profile_list *profiles,
                       const trace_list *traces, const recording_list *recordings,
                       const struct watching *watching) {
    struct json_writer json = json_start(out, 2);
    json_open_object(&json, NULL);
    json_open_array(&json, "processes");
    for (size_t i = 0; i < profiles->count; i++) {
        const struct part *parts = count_processes(arena, profiles->data[i]);
        for (size_t j = 0; j < profiles->data[i]->processes.count; j++)
            write_json_process(&json, arena, &parts[j]);
    }
    json_close(&json);
    json_open_array(&json, "left_out");
    for (size_t i = 0; i < profiles->count; i++)
        for (size_t j = 0; j < profiles->data[i]->left_out.count; j++)
            write_json_left_out(&json, &profiles->data[i]->left_out.data[j]);
    json_close(&json);
    json_open_array(&json, "binaries");
    for (size_t i = 0; i < profiles->count; i++)
        for (size_t j = 0; j < profiles->data[i]->modules.count; j++)
            write_json_module(&json, arena, profiles->data[i]->modules.data[j]);
    json_close(&json);
    json_open_array(&json, "traces");
    for (size_t i = 0; i < traces->count; i++)
        write_json_trace(&json, &traces->data[i]);
    json_close(&json);
    json_open_array(&json, "recordings");
    for (size_t i = 0; i < recordings->count; i++)
        write_json_recording(&json, &recordings->data[i]);
    json_close(&json);
    json_open_array(&json, "running");
    if (watching)
        write_json_watching(&json, watching);
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

static void write_all_text(FILE *out, struct arena *arena, const profile_list *profiles,
                           const trace_list *traces, const recording_list *recordings,
                           const struct watching *watching) {
    if (watching)
        write_text_watching(out, watching);
    for (size_t i = 0; i < profiles->count; i++)
        write_text(out, arena, profiles->data[i]);
    for (size_t i = 0; i < traces->count; i++)
        write_text_trace(out, &traces->data[i]);
    for (size_t i = 0; i < recordings->count; i++)
        write_text_recording(out, arena, &recordings->data[i]);
}

/* Opens all paths but those of traces and recordings. */
static profile_list open_all(struct arena *arena, char **paths, size_t count, bool is_optional) {
    profile_list profiles = {0};
    for (size_t i = 0; i < count; i++)
        if (!trace_is(paths[i]) && !recording_is(paths[i]))
            vector_push(arena, &profiles,
                        profile_is_data(paths[i]) ? profile_open(&paths[i], 1)
                                                  : profile_open_binary(paths[i]));
    if (!count && !is_optional)
        vector_push(arena, &profiles, profile_open(NULL, 0));
    return profiles;
}

struct info_options {
    const char *output, *pid; /* NULL: no process */
    bool json, no_pager;
};

static void take_format(void *options, const char *word) {
    ((struct info_options *)options)->json = wants_json(word);
}

static const struct option_row rows[] = {
    {"format", 0, OPTION_PARSED, 0, take_format},
    {"no-pager", 0, OPTION_FLAG, offsetof(struct info_options, no_pager), NULL},
    {"pid", 0, OPTION_TEXT, offsetof(struct info_options, pid), NULL},
    {"output", 'o', OPTION_TEXT, offsetof(struct info_options, output), NULL},
};

static const struct command_line command_line = {"info", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

int cmd_info(int argc, char **argv) {
    struct arena arena = {0};
    struct info_options options = {.output = "-"};
    int first = take_options(&command_line, argc, argv, &options);
    if (!first)
        return 0;
    struct watching watching = {0};
    if (options.pid)
        watching = look_at_watching(&arena, options.pid);
    show_progress();
    profile_list profiles =
        open_all(&arena, argv + first, (size_t)(argc - first), options.pid != NULL);
    trace_list traces = look_at_traces(&arena, argv + first, (size_t)(argc - first));
    recording_list recordings = look_at_recordings(&arena, argv + first, (size_t)(argc - first));
    FILE *out = begin_output(options.output);
    if (!options.no_pager)
        start_pager(out);
    if (options.json)
        write_json(out, &arena, &profiles, &traces, &recordings, options.pid ? &watching : NULL);
    else
        write_all_text(out, &arena, &profiles, &traces, &recordings,
                       options.pid ? &watching : NULL);
    end_output(out, options.output);
    for (size_t i = 0; i < profiles.count; i++)
        profile_close(profiles.data[i]);
    arena_release(&arena);
    return 0;
}
