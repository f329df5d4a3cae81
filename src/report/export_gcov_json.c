/* export_gcov_json.c: writes the intermediate format of gcov, as in gcc 12.
 *
 * Source: gcov(1), "--json-format", and output_json_intermediate_file in gcc 12's gcov.cc. Sample:
 *
 *     {"gcc_version": "12.2.0", "files": [
 *       {"lines": [
 *          {"branches": [{"fallthrough": false, "count": 999, "throw": false}, ...],
 *           "count": 1000, "line_number": 13, "unexecuted_block": false, "function_name": "main"}],
 *        "functions": [
 *          {"blocks": 9, "end_column": 0, "start_line": 12, "name": "main", "blocks_executed": 9,
 *           "execution_count": 1, "demangled_name": "main", "start_column": 0, "end_line": 20}],
 *        "file": "/home/user/max.c"}],
 *      "format_version": "1", "current_working_directory": "/home/user", "data_file": "..."}
 *
 * A line has one entry for each function that contains code of it, as in gcov for a line in several
 * instances of a template. Readers add the entries up. line_counts.h defines the counts of lines,
 * and branches. If there is a source root, only files below it are written, with names relative to
 * it. `gcc_version` is the version that the compiler of the first unit wrote into its text.
 *
 * Not perfect: columns are not known, and are 0. A line that was inlined has the name of the
 * function into which it was inlined. Calls that throw are not branches. */
#include "format/notes.h"
#include "report/export.h"
#include "report/json_writer.h"
#include "report/line_counts.h"
#include "report/source_functions.h"
#include "report/source_paths.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line of one function. */
struct entry {
    uint32_t file;
    uint32_t order; /* of the function, in the order of the source */
    const struct source_function *function;
    const struct line_count *line;
};

typedef VECTOR(struct entry) entry_vector;

static int compare_numbers(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_entries(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    int order = compare_numbers(a->file, b->file);
    if (!order)
        order = compare_numbers(a->line->line, b->line->line);
    return order ? order : compare_numbers(a->order, b->order);
}

static entry_vector find_entries(struct arena *arena, const struct source_functions *functions) {
    entry_vector entries = {0};
    for (size_t i = 0; i < functions->count; i++) {
        const struct source_function *function = &functions->data[i];
        const struct line_counts *counts =
            count_function_lines(arena, function->copies, function->copy_count);
        for (size_t f = 0; f < counts->file_count; f++)
            for (size_t l = 0; l < counts->files[f].line_count; l++)
                vector_push(arena, &entries,
                            ((struct entry){counts->files[f].file, (uint32_t)i, function,
                                            &counts->files[f].lines[l]}));
    }
    if (entries.count)
        qsort(entries.data, entries.count, sizeof *entries.data, compare_entries);
    return entries;
}

static void write_line(struct json_writer *json, const struct entry *entry) {
    const struct line_count *line = entry->line;
    json_open_object(json, NULL);
    json_open_array(json, "branches");
    for (size_t b = 0; b < line->branch_count; b++) {
        for (size_t t = 0; t < line->branches[b].target_count; t++) {
            const struct branch_target *target = &line->branches[b].targets[t];
            json_open_object(json, NULL);
            json_bool(json, "fallthrough", target->edge->kind == QUIPU_EDGE_NOT_TAKEN);
            json_unsigned(json, "count", target->count);
            json_bool(json, "throw", false);
            json_close(json);
        }
    }
    json_close(json);
    json_unsigned(json, "count", line->executions);
    json_unsigned(json, "line_number", line->line);
    json_bool(json, "unexecuted_block", line->never_executed > 0);
    json_string(json, "function_name", entry->function->name);
    json_close(json);
}

static void write_function(struct json_writer *json, const struct source_function *function) {
    json_open_object(json, NULL);
    json_unsigned(json, "blocks", function->blocks);
    json_unsigned(json, "end_column", 0);
    json_unsigned(json, "start_line", function->line);
    json_string(json, "name", function->name);
    json_unsigned(json, "blocks_executed", function->blocks_executed);
    json_unsigned(json, "execution_count", function->calls);
    json_string(json, "demangled_name", function->demangled);
    json_unsigned(json, "start_column", 0);
    json_unsigned(json, "end_line", function->end_line);
    json_close(json);
}

/* Returns "12.2.0" for "GCC: (Debian 12.2.0-14) 12.2.0", or "" if no unit has a version. */
static const char *compiler_version(const struct profile *profile) {
    for (size_t m = 0; m < profile->modules.count; m++) {
        const struct module *module = profile->modules.data[m];
        for (size_t u = 0; u < module->units.count; u++) {
            const char *blank = strrchr(module->units.data[u].compiler, ' ');
            if (blank && isdigit((unsigned char)blank[1]))
                return blank + 1;
        }
    }
    return "";
}

static void write_files(struct json_writer *json, const struct source_functions *functions,
                        const entry_vector *entries, const char *const *files, const char *root) {
    json_open_array(json, "files");
    for (size_t i = 0, next; i < entries->count; i = next) {
        uint32_t file = entries->data[i].file;
        for (next = i; next < entries->count && entries->data[next].file == file; next++)
            continue;
        if (!files[file])
            continue;
        json_open_object(json, NULL);
        json_open_array(json, "lines");
        for (size_t k = i; k < next; k++)
            write_line(json, &entries->data[k]);
        json_close(json);
        json_open_array(json, "functions");
        const struct source_function *end;
        for (const struct source_function *function = functions_of_file(functions, file, &end);
             function < end; function++)
            write_function(json, function);
        json_close(json);
        json_string(json, "file", root ? path_below(files[file], root) : files[file]);
        json_close(json);
    }
    json_close(json);
}

void export_gcov_json(const struct export_input *input, FILE *out) {
    struct arena arena = {0};
    const struct profile *profile = input->profile;
    struct source_functions functions = find_source_functions(&arena, profile);
    entry_vector entries = find_entries(&arena, &functions);
    const char **files = source_files(&arena, profile, input->source_root);
    char *directory = input->source_root ? NULL : getcwd(NULL, 0);
    struct json_writer json = json_start(out, 4);
    json_open_object(&json, NULL);
    json_string(&json, "gcc_version", compiler_version(profile));
    write_files(&json, &functions, &entries, files, input->source_root);
    json_string(&json, "format_version", "1");
    json_string(&json, "current_working_directory",
                input->source_root ? input->source_root
                : directory        ? directory
                                   : "/");
    json_string(&json, "data_file",
                profile->processes.count ? profile->processes.data[0].file : "");
    json_close(&json);
    json_end(&json);
    free(directory);
    arena_release(&arena);
}
