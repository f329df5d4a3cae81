/* export_html.c: writes one page that shows the whole profile in a browser, without network.
 *
 * The page (html_page.h) has this data as JSON, which page/profile.js shows:
 *
 *     "version", "title", "instructions", "processes", "threads"
 *     "programs": [[command, processes]]
 *     "modules":  [path]
 *     "files":    [[path, lines, executed lines, branch targets, taken targets, instructions]]
 *     "functions": [[name, file, line, module, calls, instructions, size, never executed, symbol,
 *                 whether it ran only inlined]], the most executed first; symbol is "" if it is the
 *                 name
 *     "parts":    [file]: its source and assembly are in a file beside the page (html_source.c)
 *     "source":   by file: {"text": [line], "lines": [[line, executions, instructions, target...]]}
 *     "assembly": by function: [[address, executions, file, line, text]]
 *     "calls":    html_calls.c, or null
 *
 * Files and modules have the numbers of the profile. Counts are written to the last digit; those
 * beyond 2^53 the script rounds.
 *
 * Invariant: no text that comes from programs ends the data's element (html_page.h), and the
 * script puts text into the page as text only. */
#include "report/html.h"
#include "report/html_page.h"
#include "report/inlined.h"
#include "report/programs.h"
#include "report/source_paths.h"
#include "report/view.h"

#include <stdlib.h>
#include <string.h>

/* ---- data ---- */

static int compare_functions(const void *left, const void *right) {
    const struct function *a = *(const struct function *const *)left;
    const struct function *b = *(const struct function *const *)right;
    if (a->executed != b->executed)
        return a->executed < b->executed ? 1 : -1;
    int order = strcmp(a->demangled, b->demangled);
    return order ? order : (a->address > b->address) - (a->address < b->address);
}

static struct html_functions find_functions(struct arena *arena, const struct profile *profile) {
    struct html_functions functions = {0};
    size_t count = 0;
    for (size_t m = 0; m < profile->modules.count; m++)
        count += profile->modules.data[m]->functions.count;
    functions.list = ARENA_ARRAY(arena, const struct function *, count);
    for (size_t m = 0; m < profile->modules.count; m++) {
        const struct module *module = profile->modules.data[m];
        for (size_t f = 0; f < module->functions.count; f++)
            functions.list[functions.count++] = &module->functions.data[f];
    }
    if (count)
        qsort(functions.list, count, sizeof *functions.list, compare_functions);
    return functions;
}

static void write_functions(struct json_writer *json, struct arena *arena,
                            const struct profile *profile, const struct html_functions *functions) {
    struct inlined_lines inlined = find_inlined_lines(arena, profile);
    json_open_array(json, "functions");
    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = functions->list[i];
        bool is_same = strcmp(function->name, function->demangled) == 0;
        json_open_array(json, NULL);
        json_string(json, NULL, function->demangled);
        json_unsigned(json, NULL, function->file);
        json_unsigned(json, NULL, function->line);
        json_unsigned(json, NULL, module_number(profile, function->module));
        json_unsigned(json, NULL, function->calls);
        json_unsigned(json, NULL, function->executed);
        json_unsigned(json, NULL, function->instruction_count);
        json_unsigned(json, NULL, function->never_executed);
        json_string(json, NULL, is_same ? "" : function->name);
        json_unsigned(json, NULL, ran_inlined(&inlined, function));
        json_close(json);
    }
    json_close(json);
}

static void write_files(struct json_writer *json, struct arena *arena,
                        const struct profile *profile, const struct line_counts *counts) {
    const char **files = source_files(arena, profile, NULL);
    json_open_array(json, "files");
    for (uint32_t i = 0; i < profile->files.count; i++) {
        const struct file_lines *lines = find_file_lines(counts, i);
        struct coverage coverage = file_coverage(lines);
        json_open_array(json, NULL);
        json_string(json, NULL, files[i] ? files[i] : "");
        json_unsigned(json, NULL, coverage.lines);
        json_unsigned(json, NULL, coverage.lines_hit);
        json_unsigned(json, NULL, coverage.branches);
        json_unsigned(json, NULL, coverage.branches_hit);
        json_unsigned(json, NULL, file_instructions(lines));
        json_close(json);
    }
    json_close(json);
}

static void write_programs(struct json_writer *json, struct arena *arena,
                           const struct profile *profile) {
    program_vector programs = find_programs(arena, profile, (struct selection){0});
    json_open_array(json, "programs");
    for (size_t i = 0; i < programs.count; i++) {
        json_open_array(json, NULL);
        json_string(json, NULL, programs.data[i].path);
        json_unsigned(json, NULL, programs.data[i].processes);
        json_close(json);
    }
    json_close(json);
}

static void write_data(const struct export_input *input, FILE *out) {
    struct arena arena = {0};
    const struct profile *profile = input->profile;
    const struct line_counts *counts = count_lines(&arena, profile);
    struct html_functions functions = find_functions(&arena, profile);
    struct json_writer json = json_start(out, 2);
    json_open_object(&json, NULL);
    json_string(&json, "version", input->version);
    json_string(&json, "title", programs_text(&arena, profile, (struct selection){0}));
    json_unsigned(&json, "instructions", profile->executed);
    uint64_t processes = count_processes(profile, (struct selection){0});
    json_unsigned(&json, "processes", processes ? processes : profile->processes.count);
    json_unsigned(&json, "threads", count_all_threads(profile));
    write_programs(&json, &arena, profile);
    json_open_array(&json, "modules");
    for (size_t m = 0; m < profile->modules.count; m++)
        json_string(&json, NULL, profile->modules.data[m]->path);
    json_close(&json);
    write_files(&json, &arena, profile, counts);
    write_functions(&json, &arena, profile, &functions);
    html_write_source(&json, input->directory, profile, counts, &functions);
    html_write_calls(&json, input->contexts);
    json_close(&json);
    json_end(&json);
    arena_release(&arena);
}

/* ---- page ---- */

void export_html(const struct export_input *input, FILE *out) {
    FILE *data = html_begin_page(out, &page_profile);
    write_data(input, data);
    html_end_page(out, data);
}
