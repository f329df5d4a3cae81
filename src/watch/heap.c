/* heap.c: blocks of the heap, selected by the line that allocates them; see heap.h.
 *
 * A line's code is all rows of the line tables with that line: each inlined copy, and each instance
 * of a template. */
#include "watch/heap.h"

#include "symbols/line_table.h"
#include "util/path.h"
#include "watch/writer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "heap:";

/* Returns the colon before the line, or NULL if TEXT has another form. */
static const char *find_line_number(const char *text) {
    const char *colon = NULL;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return NULL;
    for (const char *at = text + sizeof prefix - 1; *at; at++)
        if (*at == ':' && isdigit((unsigned char)at[1]))
            colon = at;
    return colon && colon > text + sizeof prefix - 1 ? colon : NULL;
}

bool begins_blocks(const char *text) {
    return strncmp(text, prefix, sizeof prefix - 1) == 0 && text[sizeof prefix - 1] != ':';
}

bool names_blocks(const char *text) {
    return find_line_number(text) != NULL;
}

/* ---- Slices ---- */

/* Reads a number at *AT. */
static bool read_number(const char **at, uint64_t *number) {
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *number = strtoull(*at, &end, 0);
    *at = end;
    return errno == 0;
}

/* Reads the text behind the line. Returns NULL, or an error message with its position in *AT. */
static const char *read_slice(const char **at, struct watched *watched) {
    uint64_t first = 0, last = INT64_MAX;
    if (**at == '[') {
        ++*at;
        if (!read_number(at, &first))
            return "here must be the number of a byte";
        last = first;
        if (strncmp(*at, "..", 2) == 0) {
            *at += 2;
            if (!read_number(at, &last))
                return "here must be the number of a byte";
        }
        if (**at != ']')
            return "here must be ']'";
        ++*at;
        if (last < first || last > INT64_MAX)
            return "the last byte is not behind the first";
    }
    if (**at)
        return "behind the line there may be a slice, [FIRST..LAST]";
    watched->address = watched->first = first;
    watched->size = last - first + 1;
    return NULL;
}

/* ---- The line's code ---- */

struct search {
    struct arena *arena;
    const struct binary *binary;
    const char *file;
    int line;
    bool has_file;
    int before, behind; /* the nearest lines with code; 0: none */
    struct watched *watched;
};

static void note_line(struct search *search, int line) {
    if (line < search->line && line > search->before)
        search->before = line;
    if (line > search->line && (!search->behind || line < search->behind))
        search->behind = line;
}

/* Adds the code of ROW, up to the next row. */
static void take_row(struct search *search, const struct line_table *table,
                     const struct line_row *row) {
    if (!row->line || row[1].address <= row->address ||
        !ends_in(*vector_at(&table->files, row->file), search->file))
        return;
    search->has_file = true;
    note_line(search, (int)row->line);
    if ((int)row->line == search->line)
        vector_push(search->arena, &search->watched->ranges,
                    ((struct quipu_watch_range){row->address, row[1].address}));
}

static int compare(const void *left, const void *right) {
    const struct quipu_watch_range *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Sorts the ranges and joins adjacent ones. */
static void join_ranges(struct watched *watched) {
    struct quipu_watch_range *ranges = watched->ranges.data;
    size_t count = 0;
    if (!watched->ranges.count)
        return;
    qsort(ranges, watched->ranges.count, sizeof *ranges, compare);
    for (size_t i = 1; i < watched->ranges.count; i++)
        if (ranges[i].begin > ranges[count].end)
            ranges[++count] = ranges[i];
        else if (ranges[i].end > ranges[count].end)
            ranges[count].end = ranges[i].end;
    watched->ranges.count = count + 1;
}

static void find_code(struct search *search) {
    const struct line_table *table = binary_lines(search->binary);
    for (size_t i = 0; i + 1 < table->rows.count; i++)
        take_row(search, table, &table->rows.data[i]);
    join_ranges(search->watched);
}

/* Returns the reason why there is no code. */
static const char *explain(const struct search *search) {
    if (!search->binary->dwarf)
        return "there is no debug information; compile with -g";
    if (!search->has_file)
        return arena_print(
            search->arena, "there is no code of a source file '%s'%s", search->file,
            suggest_source(search->arena, binary_lines(search->binary), search->file));
    if (search->before && search->behind)
        return arena_print(search->arena,
                           "there is no code of line %d; of lines %d and %d there is", search->line,
                           search->before, search->behind);
    return arena_print(search->arena, "there is no code of line %d; of line %d there is",
                       search->line, search->before ? search->before : search->behind);
}

const char *read_blocks(struct arena *arena, const struct binary *binary, const char *text,
                        struct watched *watched, size_t *where) {
    const char *colon = find_line_number(text), *at = colon + 1;
    const char *file = text + sizeof prefix - 1;
    uint64_t line;
    bool is_line = read_number(&at, &line) && line && line <= INT32_MAX;
    struct search search = {.arena = arena,
                            .binary = binary,
                            .file = arena_copy(arena, file, (size_t)(colon - file)),
                            .line = is_line ? (int)line : 0,
                            .watched = watched};
    *where = (size_t)(colon + 1 - text);
    if (!is_line)
        return "lines are counted from 1";
    watched->is_blocks = true;
    watched->base = arena_print(arena, "%s:%d", last_part(search.file), search.line);
    watched->value_size = sizeof(uint64_t);
    for (uint64_t size = 2; size <= sizeof(uint64_t); size *= 2)
        watched->words[size] = word_shape(arena, size);
    const char *wrong = read_slice(&at, watched);
    watched->whole = (struct part){.shape = byte_shape(arena), .count = watched->size};
    if (wrong) {
        *where = (size_t)(at - text);
        return wrong;
    }
    if (binary->dwarf)
        find_code(&search);
    watched->object.is_missing = !search.has_file;
    *where = search.has_file ? *where : sizeof prefix - 1;
    return watched->ranges.count ? NULL : explain(&search);
}
