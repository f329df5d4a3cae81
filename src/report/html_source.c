/* html_source.c: source text and assembly in the HTML page.
 *
 * Not perfect: of a large program, only the most executed files and functions have their text in
 * the page; it says so. */
#include "report/html.h"
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

void html_write_source(struct json_writer *json, const struct profile *profile,
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
    json_open_object(json, "source");
    for (size_t i = 0; i < counts->file_count; i++) {
        const struct source_text *text = source_text(&sources, files[i]->file);
        size_t size = text_size(text);
        bool fits = text->count && size <= room;
        room -= fits ? size : 0;
        write_file(json, files[i], fits ? text : NULL);
    }
    json_close(json);
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

void html_write_assembly(struct json_writer *json, const struct html_functions *functions) {
    size_t written = 0;
    json_open_object(json, "assembly");
    for (size_t i = 0; i < functions->count && written < ASSEMBLY_MOST; i++)
        if (functions->list[i]->executed)
            written += write_function(json, functions->list[i], i);
    json_close(json);
}
