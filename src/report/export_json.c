/* export_json.c: writes everything in a profile as JSON, for any other program.
 *
 *     format       1; incremented when a member changes its meaning or is removed
 *     version      of the quipu that wrote it
 *     processes[]  file (data file), program, command, pid, parent_pid, rank (in a run of MPI;
 *                  null: none), start_time (nanoseconds since 1970), merged, threads[]: module
 *                  (index), slot, owner (thread id of the last owner), threads (number of owners
 *                  of the slot)
 *     modules[]    path, build_id (hexadecimal), cells,
 *                  units[]: source, compiler, options, version
 *                  left_alone[]: name, address, reason          not instrumented
 *                  functions[]: see below
 *     files[]      file and its lines[]: line, executions, instructions, static_instructions,
 *                  never_executed, branches[]: module, function, instruction, executed, targets[]:
 *                  edge, count
 *     calls        null without calling contexts: see export_json_calls.c
 *     totals       instructions, functions, static_instructions, never_executed_instructions
 *
 * A function:
 *     name, demangled, file, line, address, calls, instructions (executed),
 *     never_executed_instructions, fragments[] (addresses; [0] contains the entry), hubs,
 *     blocks[]         first (index of an instruction), size (in instructions), padding, count
 *     edges[]          source, target, kind, count. An end is null (outside), "bN" (block N) or
 *                      "hN" (hub N: between indirect jumps and their common targets)
 *     code[]           its instructions: fragment, offset (from the fragment's start, in the
 *                      compiler's output), size, address (0: padding that is elsewhere in this
 *                      binary), block, file, line, copy (inlined call that it is part of; 0:
 *                      none), text, count
 *
 * Counts are sums over all processes and threads. Every index counts from 0. Addresses are those of
 * the binary as linked, in decimal. If it is not known, a file is null, and a line is 0. Kinds of
 * edges are those of format/notes.h. line_counts.h defines a line's executions and branches. */
#include "report/export_json.h"
#include "format/data_file.h"
#include "format/notes.h"
#include "report/export.h"
#include "report/line_counts.h"
#include "report/view.h"

#include <inttypes.h>

static const char *const edge_kinds[] = {
    [QUIPU_EDGE_ENTRY] = "entry",         [QUIPU_EDGE_PAD] = "pad",
    [QUIPU_EDGE_FALL] = "fall",           [QUIPU_EDGE_JUMP] = "jump",
    [QUIPU_EDGE_TAKEN] = "taken",         [QUIPU_EDGE_NOT_TAKEN] = "not-taken",
    [QUIPU_EDGE_INDIRECT] = "indirect",   [QUIPU_EDGE_CALL] = "call",
    [QUIPU_EDGE_CALL_LOST] = "call-lost", [QUIPU_EDGE_RETURN] = "return",
    [QUIPU_EDGE_TAIL] = "tail",           [QUIPU_EDGE_STOP] = "stop",
};

void export_json_file(struct json_writer *json, const struct profile *profile, uint32_t file) {
    if (file)
        json_string(json, "file", profile->files.data[file]);
    else
        json_null(json, "file");
}

/* ---- processes ---- */

static void write_process(struct json_writer *json, const struct profile *profile,
                          const struct process *process) {
    json_open_object(json, NULL);
    json_string(json, "file", process->file);
    json_string(json, "program", process->program);
    json_string(json, "command", process->command);
    json_unsigned(json, "pid", process->pid);
    json_unsigned(json, "parent_pid", process->parent_pid);
    if (process->rank)
        json_unsigned(json, "rank", process->rank - 1);
    else
        json_null(json, "rank");
    json_unsigned(json, "start_time", process->start_time);
    json_bool(json, "merged", process->merged);
    json_open_array(json, "threads");
    for (size_t i = 0; i < process->threads.count; i++) {
        const struct thread_cells *thread = &process->threads.data[i];
        json_open_object(json, NULL);
        json_unsigned(json, "module", module_number(profile, thread->module));
        json_unsigned(json, "slot", thread->slot);
        json_unsigned(json, "owner", thread->owner);
        json_unsigned(json, "threads", thread->threads);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

/* ---- functions ---- */

static void write_block(struct json_writer *json, const struct block *block) {
    json_open_object(json, NULL);
    json_unsigned(json, "first", block->first_instruction);
    json_unsigned(json, "size", block->instruction_count);
    json_bool(json, "padding", block->padding);
    json_signed(json, "count", block->count);
    json_close(json);
}

static void write_end(struct json_writer *json, const char *key, const struct function *function,
                      uint32_t end) {
    char text[16];
    if (end == 0) {
        json_null(json, key);
        return;
    }
    if (end <= function->block_count)
        snprintf(text, sizeof text, "b%" PRIu32, end - 1);
    else
        snprintf(text, sizeof text, "h%zu", end - 1 - function->block_count);
    json_string(json, key, text);
}

static void write_edge(struct json_writer *json, const struct function *function,
                       const struct flow_edge *edge) {
    json_open_object(json, NULL);
    write_end(json, "source", function, edge->source);
    write_end(json, "target", function, edge->target);
    json_string(json, "kind", edge_kinds[edge->kind]);
    json_signed(json, "count", edge->count);
    json_close(json);
}

static void write_instruction(struct json_writer *json, const struct profile *profile,
                              const struct function *function,
                              const struct instruction *instruction) {
    char text[INSTRUCTION_TEXT_MAX];
    instruction_text(function, instruction, text, sizeof text);
    json_open_object(json, NULL);
    json_unsigned(json, "fragment", instruction->fragment);
    json_unsigned(json, "offset", instruction->offset);
    json_unsigned(json, "size", instruction->size);
    json_unsigned(json, "address", instruction->address);
    json_unsigned(json, "block", instruction->block);
    export_json_file(json, profile, instruction->file);
    json_unsigned(json, "line", instruction->line);
    json_unsigned(json, "copy", instruction->copy);
    json_string(json, "text", text);
    json_unsigned(json, "count", instruction->count);
    json_close(json);
}

static void write_function(struct json_writer *json, const struct profile *profile,
                           const struct function *function) {
    json_open_object(json, NULL);
    json_string(json, "name", function->name);
    json_string(json, "demangled", function->demangled);
    export_json_file(json, profile, function->file);
    json_unsigned(json, "line", function->line);
    json_unsigned(json, "address", function->address);
    json_unsigned(json, "calls", function->calls);
    json_unsigned(json, "instructions", function->executed);
    json_unsigned(json, "never_executed_instructions", function->never_executed);
    json_open_array(json, "fragments");
    for (uint32_t i = 0; i < function->fragment_count; i++)
        json_unsigned(json, NULL, function->fragments[i]);
    json_close(json);
    json_unsigned(json, "hubs", function->hub_count);
    json_open_array(json, "blocks");
    for (size_t i = 0; i < function->block_count; i++)
        write_block(json, &function->blocks[i]);
    json_close(json);
    json_open_array(json, "edges");
    for (size_t i = 0; i < function->edge_count; i++)
        write_edge(json, function, &function->edges[i]);
    json_close(json);
    json_open_array(json, "code");
    for (size_t i = 0; i < function->instruction_count; i++)
        write_instruction(json, profile, function, &function->instructions[i]);
    json_close(json);
    json_close(json);
}

/* ---- modules ---- */

static void write_units(struct json_writer *json, const struct module *module) {
    json_open_array(json, "units");
    for (size_t i = 0; i < module->units.count; i++) {
        const struct unit_note *unit = &module->units.data[i];
        json_open_object(json, NULL);
        json_string(json, "source", unit->source);
        json_string(json, "compiler", unit->compiler);
        json_string(json, "options", unit->options);
        json_string(json, "version", unit->version);
        json_close(json);
    }
    json_close(json);
    json_open_array(json, "left_alone");
    for (size_t i = 0; i < module->left_alone.count; i++) {
        const struct left_alone *left = &module->left_alone.data[i];
        json_open_object(json, NULL);
        json_string(json, "name", left->name);
        json_unsigned(json, "address", left->address);
        json_string(json, "reason", left->reason);
        json_close(json);
    }
    json_close(json);
}

static void write_module(struct json_writer *json, const struct profile *profile,
                         const struct module *module) {
    char build_id[2 * QUIPU_BUILD_ID_MAX + 1] = "";
    for (uint32_t i = 0; i < module->build_id_size; i++)
        snprintf(build_id + 2 * (size_t)i, 3, "%02x", module->build_id[i]);
    json_open_object(json, NULL);
    json_string(json, "path", module->path);
    json_string(json, "build_id", build_id);
    json_unsigned(json, "cells", module->cell_count);
    write_units(json, module);
    json_open_array(json, "functions");
    for (size_t i = 0; i < module->functions.count; i++)
        write_function(json, profile, &module->functions.data[i]);
    json_close(json);
    json_close(json);
}

/* ---- lines ---- */

static void write_branch(struct json_writer *json, const struct profile *profile,
                         const struct line_branch *branch) {
    const struct function *function = branch->function;
    json_open_object(json, NULL);
    json_unsigned(json, "module", module_number(profile, function->module));
    json_unsigned(json, "function", (size_t)(function - function->module->functions.data));
    json_unsigned(json, "instruction", branch->instruction);
    json_unsigned(json, "executed", branch->executed);
    json_open_array(json, "targets");
    for (size_t i = 0; i < branch->target_count; i++) {
        json_open_object(json, NULL);
        json_unsigned(json, "edge", (size_t)(branch->targets[i].edge - function->edges));
        json_unsigned(json, "count", branch->targets[i].count);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

static void write_line(struct json_writer *json, const struct profile *profile,
                       const struct line_count *line) {
    json_open_object(json, NULL);
    json_unsigned(json, "line", line->line);
    json_unsigned(json, "executions", line->executions);
    json_unsigned(json, "instructions", line->instructions);
    json_unsigned(json, "static_instructions", line->static_instructions);
    json_unsigned(json, "never_executed", line->never_executed);
    json_open_array(json, "branches");
    for (size_t i = 0; i < line->branch_count; i++)
        write_branch(json, profile, &line->branches[i]);
    json_close(json);
    json_close(json);
}

static void write_files(struct json_writer *json, const struct profile *profile) {
    struct arena arena = {0};
    const struct line_counts *counts = count_lines(&arena, profile);
    json_open_array(json, "files");
    for (size_t i = 0; i < counts->file_count; i++) {
        const struct file_lines *lines = &counts->files[i];
        json_open_object(json, NULL);
        export_json_file(json, profile, lines->file);
        json_open_array(json, "lines");
        for (size_t l = 0; l < lines->line_count; l++)
            write_line(json, profile, &lines->lines[l]);
        json_close(json);
        json_close(json);
    }
    json_close(json);
    arena_release(&arena);
}

static void write_totals(struct json_writer *json, const struct profile *profile) {
    size_t functions = 0, instructions = 0, never = 0;
    for (size_t m = 0; m < profile->modules.count; m++) {
        const struct module *module = profile->modules.data[m];
        functions += module->functions.count;
        for (size_t f = 0; f < module->functions.count; f++) {
            instructions += module->functions.data[f].instruction_count;
            never += module->functions.data[f].never_executed;
        }
    }
    json_open_object(json, "totals");
    json_unsigned(json, "instructions", profile->executed);
    json_unsigned(json, "functions", functions);
    json_unsigned(json, "static_instructions", instructions);
    json_unsigned(json, "never_executed_instructions", never);
    json_close(json);
}

void export_json(const struct export_input *input, FILE *out) {
    const struct profile *profile = input->profile;
    struct json_writer json = json_start(out, 6);
    json_open_object(&json, NULL);
    json_unsigned(&json, "format", 1);
    json_string(&json, "version", input->version);
    json_open_array(&json, "processes");
    for (size_t i = 0; i < profile->processes.count; i++)
        write_process(&json, profile, &profile->processes.data[i]);
    json_close(&json);
    json_open_array(&json, "modules");
    for (size_t i = 0; i < profile->modules.count; i++)
        write_module(&json, profile, profile->modules.data[i]);
    json_close(&json);
    write_files(&json, profile);
    export_json_calls(&json, profile, input->contexts);
    write_totals(&json, profile);
    json_close(&json);
    json_end(&json);
}
