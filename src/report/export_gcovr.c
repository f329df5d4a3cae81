/* export_gcovr.c: writes the JSON of gcovr, for its -a option (--add-tracefile).
 *
 * Source: gcovr's manual, "JSON Format Reference"; versions 5.2, 7.2 and 8.7. Sample:
 *
 *     {"gcovr/format_version": "0.3", "files": [
 *       {"file": "/home/user/max.c",
 *        "lines": [
 *          {"line_number": 13, "count": 1000,
 *           "branches": [{"branchno": 0, "blockno": 0,
 *                         "source_block_id": 0, "destination_block_id": 0,
 *                         "count": 999, "fallthrough": false, "throw": false}, ...],
 *           "gcovr/noncode": false, "gcovr/excluded": false}],
 *        "functions": [
 *          {"name": "main", "demangled_name": "main", "lineno": 12, "execution_count": 1,
 *           "returned_count": 1, "blocks_percent": 100.0}]}]}
 *
 * Each gcovr reads exactly one version of the format. The members are those of all versions, so
 * only that number differs. The installed gcovr is asked for it: of an empty directory it writes a
 * file without coverage.
 *
 * line_counts.h defines the counts of lines, and branches. If there is a source root, only files
 * below it are written, with names relative to it.
 *
 * Not perfect: the numbers of blocks are those of the line's jumps and of their targets. How often
 * a function has returned is not known apart from how often it was called.
 */
#include "report/export.h"
#include "report/json_writer.h"
#include "report/line_counts.h"
#include "report/source_functions.h"
#include "report/source_paths.h"
#include "util/buffer.h"
#include "util/json_reader.h"
#include "util/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char newest_format[] = "0.15";

/* ---- the version ---- */

/* Returns the version in the file at PATH, or NULL if it is not one of gcovr's. */
static const char *read_format(struct arena *arena, const char *path) {
    struct buffer text = {0};
    const char *format = NULL, *key;
    bool whole = buffer_read_file(&text, path);
    struct json_reader json = json_read(arena, whole && text.data ? text.data : "");
    while ((key = json_member(&json)))
        if (strcmp(key, "gcovr/format_version") == 0)
            format = json_string_value(&json);
        else
            json_skip(&json);
    buffer_release(&text);
    return json.fault ? NULL : format;
}

/* Returns the version that the installed gcovr reads, or the newest known one. */
static const char *find_format(struct arena *arena) {
    char *directory = make_temporary_directory("quipu-gcovr-");
    if (!directory)
        return newest_format;
    char *path = arena_print(arena, "%s/empty.json", directory);
    char *root = arena_print(arena, "--root=%s", directory);
    char *argv[] = {"gcovr", root, "--json", path, directory, NULL};
    const char *format = run_program(argv, NULL, 0, true) == 0 ? read_format(arena, path) : NULL;
    unlink(path);
    rmdir(directory);
    free(directory);
    return format && *format ? format : newest_format;
}

/* ---- the files ---- */

static void write_line(struct json_writer *json, const struct line_count *line) {
    uint64_t number = 0;
    json_open_object(json, NULL);
    json_unsigned(json, "line_number", line->line);
    json_unsigned(json, "count", line->executions);
    json_open_array(json, "branches");
    for (size_t b = 0; b < line->branch_count; b++)
        for (size_t t = 0; t < line->branches[b].target_count; t++) {
            const struct branch_target *target = &line->branches[b].targets[t];
            json_open_object(json, NULL);
            json_unsigned(json, "branchno", number++);
            json_unsigned(json, "blockno", b);
            json_unsigned(json, "source_block_id", b);
            json_unsigned(json, "destination_block_id", t);
            json_unsigned(json, "count", target->count);
            json_bool(json, "fallthrough", target->edge->kind == QUIPU_EDGE_NOT_TAKEN);
            json_bool(json, "throw", false);
            json_close(json);
        }
    json_close(json);
    json_bool(json, "gcovr/noncode", false);
    json_bool(json, "gcovr/excluded", false);
    json_close(json);
}

static void write_function(struct json_writer *json, const struct source_function *function) {
    double blocks = function->blocks ? (double)function->blocks : 1;
    json_open_object(json, NULL);
    json_string(json, "name", function->name);
    json_string(json, "demangled_name", function->demangled);
    json_unsigned(json, "lineno", function->line);
    json_unsigned(json, "execution_count", function->calls);
    json_unsigned(json, "returned_count", function->calls);
    json_real(json, "blocks_percent", 100 * (double)function->blocks_executed / blocks, 1);
    json_close(json);
}

void export_gcovr(const struct export_input *input, FILE *out) {
    struct arena arena = {0};
    const struct line_counts *counts = count_covered_lines(&arena, input->profile);
    struct source_functions functions = find_source_functions(&arena, input->profile);
    const char **files = source_files(&arena, input->profile, input->source_root);
    struct json_writer json = json_start(out, 4);
    json_open_object(&json, NULL);
    json_string(&json, "gcovr/format_version",
                input->gcovr_format ? input->gcovr_format : find_format(&arena));
    json_open_array(&json, "files");
    for (size_t i = 0; i < counts->file_count; i++) {
        const struct file_lines *lines = &counts->files[i];
        const char *file = files[lines->file];
        if (!file)
            continue;
        json_open_object(&json, NULL);
        json_string(&json, "file",
                    input->source_root ? path_below(file, input->source_root) : file);
        json_open_array(&json, "lines");
        for (size_t l = 0; l < lines->line_count; l++)
            write_line(&json, &lines->lines[l]);
        json_close(&json);
        json_open_array(&json, "functions");
        const struct source_function *end;
        for (const struct source_function *function =
                 functions_of_file(&functions, lines->file, &end);
             function < end; function++)
            if (function->line)
                write_function(&json, function);
        json_close(&json);
        json_close(&json);
    }
    json_close(&json);
    json_close(&json);
    json_end(&json);
    arena_release(&arena);
}
