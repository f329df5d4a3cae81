/* html_source.c: source text and assembly of the HTML page.
 *
 * In a page of one file, only the most executed files and functions have their text; the page says
 * so. In a directory, file-N.js beside the page has those of source file N, and of the functions in
 * it:
 *
 *     page.add(N, {"source": {"N": {...}}, "assembly": {...}});
 *
 * The page reads it when it is needed.
 *
 * Not perfect: in a directory, a line shows only those of its instructions whose functions are in
 * files that were read. */
#include "report/html.h"
#include "report/html_page.h"
#include "report/output.h"
#include "report/source_text.h"

#include <stdlib.h>
#include <string.h>

enum {
    SOURCE_MOST = 6 << 20, /* bytes of source text in the page */
    ASSEMBLY_MOST = 6 << 20
};

static int compare_files(const void *left, const void *right) {
    const struct file_lines *a = *(const struct file_lines *const *)left;
    const struct file_lines *b = *(const struct file_lines *const *)right;
    uint64_t x = file_instructions(a), y = file_instructions(b);
    return x != y ? (x < y ? 1 : -1) : (a->file > b->file) - (a->file < b->file);
}

static size_t text_size(const struct source_text *text) {
    size_t size = 0;
    for (size_t i = 0; i < text->count; i++)
        size += strlen(text->lines[i]) + 1;
    return size;
}

/* A line: its number, executions, instructions, and the counts of its branches' targets. */
static void write_counts(struct json_writer *json, const struct file_lines *lines) {
    json_open_array(json, "lines");
    for (size_t i = 0; i < lines->line_count; i++) {
        const struct line_count *line = &lines->lines[i];
        json_open_array(json, NULL);
        json_unsigned(json, NULL, line->line);
        json_unsigned(json, NULL, line->executions);
        json_unsigned(json, NULL, line->instructions);
        for (size_t b = 0; b < line->branch_count; b++)
            for (size_t t = 0; t < line->branches[b].target_count; t++)
                json_unsigned(json, NULL, line->branches[b].targets[t].count);
        json_close(json);
    }
    json_close(json);
}

static void write_file(struct json_writer *json, const struct file_lines *lines,
                       const struct source_text *text) {
    char key[16];
    snprintf(key, sizeof key, "%u", lines->file);
    json_open_object(json, key);
    if (text) {
        json_open_array(json, "text");
        for (size_t i = 0; i < text->count; i++)
            json_string(json, NULL, text->lines[i]);
        json_close(json);
    }
    write_counts(json, lines);
    json_close(json);
}

static void write_source(struct json_writer *json, const struct profile *profile,
                         const struct line_counts *counts) {
    struct arena arena = {0};
    struct sources sources = sources_start(&arena, profile, NULL, 0);
    const struct file_lines **files =
        ARENA_ARRAY(&arena, const struct file_lines *, counts->file_count);
    size_t room = SOURCE_MOST;
    for (size_t i = 0; i < counts->file_count; i++)
        files[i] = &counts->files[i];
    if (counts->file_count)
        qsort(files, counts->file_count, sizeof(const struct file_lines *), compare_files);
    for (size_t i = 0; i < counts->file_count; i++) {
        const struct source_text *text = source_text(&sources, files[i]->file);
        size_t size = text_size(text);
        bool fits = text->count && size <= room;
        room -= fits ? size : 0;
        write_file(json, files[i], fits ? text : NULL);
    }
    arena_release(&arena);
}

/* An instruction: its address, executions, file, line, text. */
static size_t write_function(struct json_writer *json, const struct function *function,
                             size_t number) {
    char key[24], text[INSTRUCTION_TEXT_MAX];
    size_t size = 0;
    snprintf(key, sizeof key, "%zu", number);
    json_open_array(json, key);
    for (size_t i = 0; i < function->instruction_count; i++) {
        const struct instruction *instruction = &function->instructions[i];
        instruction_text(function, instruction, text, sizeof text);
        json_open_array(json, NULL);
        json_unsigned(json, NULL, instruction->address);
        json_unsigned(json, NULL, instruction->count);
        json_unsigned(json, NULL, instruction->file);
        json_unsigned(json, NULL, instruction->line);
        json_string(json, NULL, text);
        json_close(json);
        size += strlen(text) + 32;
    }
    json_close(json);
    return size;
}

static void write_assembly(struct json_writer *json, const struct html_functions *functions) {
    size_t written = 0;
    for (size_t i = 0; i < functions->count && written < ASSEMBLY_MOST; i++)
        if (functions->list[i]->executed)
            written += write_function(json, functions->list[i], i);
}

/* ---- files beside the page ---- */

/* The functions of each file: those of FILE are order[first[FILE]] up to order[first[FILE + 1]]. */
struct functions_by_file {
    size_t *first, *order;
};

static struct functions_by_file
sort_functions(struct arena *arena, const struct html_functions *functions, size_t file_count) {
    struct functions_by_file by_file = {ARENA_ARRAY(arena, size_t, file_count + 2),
                                        ARENA_ARRAY(arena, size_t, functions->count)};
    for (size_t i = 0; i < functions->count; i++)
        by_file.first[functions->list[i]->file + 2]++;
    for (size_t i = 2; i < file_count + 2; i++)
        by_file.first[i] += by_file.first[i - 1];
    for (size_t i = 0; i < functions->count; i++)
        by_file.order[by_file.first[functions->list[i]->file + 1]++] = i;
    return by_file;
}

static void write_part(FILE *out, uint32_t file, const struct file_lines *lines,
                       const struct source_text *text, const struct html_functions *functions,
                       const size_t *order, size_t count) {
    FILE *data = html_open_data(out);
    struct json_writer json = json_start(data, 1);
    fprintf(data, "page.add(%u, ", file);
    json_open_object(&json, NULL);
    json_open_object(&json, "source");
    if (lines)
        write_file(&json, lines, text->count ? text : NULL);
    json_close(&json);
    json_open_object(&json, "assembly");
    for (size_t i = 0; i < count; i++)
        if (functions->list[order[i]]->executed)
            write_function(&json, functions->list[order[i]], order[i]);
    json_close(&json);
    json_close(&json);
    fputs(");\n", data);
    fclose(data); /* an error is one of OUT, too */
}

static void write_parts(struct json_writer *json, const char *directory,
                        const struct profile *profile, const struct line_counts *counts,
                        const struct html_functions *functions) {
    struct arena arena = {0};
    struct sources sources = sources_start(&arena, profile, NULL, 0);
    struct functions_by_file by_file = sort_functions(&arena, functions, profile->files.count);
    for (uint32_t i = 0; i < profile->files.count; i++) {
        const struct file_lines *lines = find_file_lines(counts, i);
        size_t count = by_file.first[i + 1] - by_file.first[i];
        if (!lines && !count)
            continue;
        json_unsigned(json, NULL, i);
        const char *path = arena_print(&arena, "%sfile-%u.js", directory, i);
        FILE *out = begin_output(path);
        write_part(out, i, lines, lines ? source_text(&sources, i) : NULL, functions,
                   &by_file.order[by_file.first[i]], count);
        end_output(out, path);
    }
    arena_release(&arena);
}

void html_write_source(struct json_writer *json, const char *directory,
                       const struct profile *profile, const struct line_counts *counts,
                       const struct html_functions *functions) {
    json_open_array(json, "parts");
    if (directory)
        write_parts(json, directory, profile, counts, functions);
    json_close(json);
    json_open_object(json, "source");
    if (!directory)
        write_source(json, profile, counts);
    json_close(json);
    json_open_object(json, "assembly");
    if (!directory)
        write_assembly(json, functions);
    json_close(json);
}
