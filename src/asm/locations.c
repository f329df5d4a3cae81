/* locations.c: the source line of each instruction, from the .loc directives, or as the assembler
 * counts them; see locations.h.
 *
 * Code that is copied keeps its lines, for debuggers. A compiler's text has .loc. With -g, the
 * assembler counts the lines of other text by itself: hand-written files, where '# 12 "file.S"' on
 * a line of its own, the preprocessor's line marker, changes file and number. It ceases to do so
 * where it sees a .loc, so copies from such text are between line markers. ".linefile" would need
 * no line of its own, but its meaning in the middle of a line has changed between versions.
 *
 * Not perfect: .line and .linefile are not understood. In text that has them, code out of line has
 * the line where it is put. */
#include "asm/locations.h"

#include <string.h>

/* Returns the length of the numbers at the begin: file, line and column. The options behind them
 * have names. */
static uint32_t leading_numbers(struct span text) {
    uint32_t length = 0;
    while (length < text.length && strchr("0123456789 \t", text.start[length]))
        length++;
    while (length && strchr(" \t", text.start[length - 1]))
        length--;
    return length;
}

/* Returns is_stmt of the location. It stays in force until a directive changes it. */
static bool read_is_statement(struct span text, bool before) {
    static const char name[] = "is_stmt ";
    const char *found = memmem(text.start, text.length, name, strlen(name));
    if (!found || found + strlen(name) >= text.start + text.length)
        return before;
    return found[strlen(name)] != '0';
}

/* Whether the directive's second number is 0. Compilers write this for code of several lines. */
static bool is_line_0(struct span arguments) {
    return span_is(first_word(behind(arguments, first_word(arguments))), "0");
}

void note_location(struct unit *unit, struct span arguments) {
    size_t count = unit->locations.count;
    struct location *last = count ? vector_at(&unit->locations, count - 1) : NULL;
    bool is_statement = read_is_statement(arguments, !last || last->next_is_statement);
    if (is_line_0(arguments)) {
        if (last)
            last->next_is_statement = is_statement;
        return;
    }
    struct location location = {.statement = (uint32_t)unit->statements.count,
                                .start = (uint32_t)(arguments.start - unit->text),
                                .length = leading_numbers(arguments),
                                .is_statement = is_statement,
                                .next_is_statement = is_statement,
                                .has_view = memmem(arguments.start, arguments.length, " view ", 6)};
    vector_push(&unit->arena, &unit->locations, location);
}

enum {
    FILES_MAX = 1 << 20 /* larger numbers are invalid */
};

static uint32_t read_number(const char *text, size_t length) {
    uint32_t number = 0;
    for (size_t i = 0; i < length && text[i] >= '0' && text[i] <= '9' && number < FILES_MAX; i++)
        number = 10 * number + (uint32_t)(text[i] - '0');
    return number;
}

void note_numbered_file(struct unit *unit, struct span arguments) {
    uint32_t number = read_number(arguments.start, arguments.length);
    while (unit->files.count <= number && number < FILES_MAX)
        vector_push(&unit->arena, &unit->files, NONE);
    if (number < FILES_MAX && unit->files.data[number] == NONE)
        unit->files.data[number] = (uint32_t)unit->statements.count;
}

uint32_t location_file(const struct unit *unit, const struct location *location) {
    return read_number(unit->text + location->start, location->length);
}

const struct statement *numbered_file(const struct unit *unit, uint32_t number) {
    if (number >= unit->files.count || unit->files.data[number] == NONE)
        return NULL;
    return &unit->statements.data[unit->files.data[number]];
}

const struct location *location_of(const struct unit *unit, uint32_t statement) {
    size_t low = 0, high = unit->locations.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (unit->locations.data[middle].statement <= statement)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &unit->locations.data[low - 1] : NULL;
}

/* ---- padding ---- */

/* Returns the next instruction of STATEMENT's section behind it, or before it if STEP is -1. NONE:
 * there is none. */
static uint32_t next_instruction(const struct unit *unit, uint32_t statement, int step) {
    uint32_t section = unit->statements.data[statement].section;
    for (uint32_t i = statement + (uint32_t)step; i < unit->statements.count; i += (uint32_t)step)
        if (unit->statements.data[i].kind == STATEMENT_INSTRUCTION &&
            unit->statements.data[i].section == section)
            return i;
    return NONE;
}

/* Returns the location of the padding of ALIGNMENT, if the assembler writes a row of the line table
 * in front of it, or NULL. A row is for the next instruction, and is written there. Only a location
 * with a view has its row at once; and so has any other one if a second location follows before
 * there is an instruction. BEFORE is the instruction before the padding. */
static const struct location *location_of_padding(const struct unit *unit, uint32_t alignment,
                                                  uint32_t before) {
    const struct location *last = location_of(unit, alignment);
    if (!last || last->statement <= before || last->has_view)
        return last && last->statement > before ? last : NULL;
    return last > unit->locations.data && last[-1].statement > before ? last - 1 : NULL;
}

uint32_t line_of_padding(const struct unit *unit, uint32_t alignment, bool *behind) {
    uint32_t before = next_instruction(unit, alignment, -1);
    uint32_t next = next_instruction(unit, alignment, 1);
    if (before == NONE || next == NONE)
        return 0;
    const struct location *own = location_of_padding(unit, alignment, before);
    const struct location *above = location_of(unit, before), *below = location_of(unit, next);
    const char *line = own ? strpbrk(unit->text + own->start, " \t") : NULL;
    if (!line)
        return 0;
    *behind = !above || location_file(unit, above) != location_file(unit, own);
    if (*behind && location_file(unit, below) != location_file(unit, own))
        return 0;
    line += strspn(line, " \t");
    return read_number(line, (size_t)(unit->text + own->start + own->length - line));
}

/* If other locations have views, this one gets a view, too: the assembler's time is quadratic in
 * the number of locations without one. */
void write_location(struct buffer *out, const struct unit *unit, const struct location *location,
                    uint32_t *labels) {
    buffer_print(out, ".loc %.*s is_stmt %d", (int)location->length, unit->text + location->start,
                 location->is_statement);
    if (location->has_view)
        buffer_print(out, " view .LQw%u", ++*labels);
}

/* ---- lines that the assembler counts ---- */

void note_line_marker(struct unit *unit, struct span marker, uint32_t line) {
    const char *end = marker.start + marker.length, *c = marker.start + strlen("#");
    const char *quote = memchr(c, '"', marker.length - strlen("#"));
    bool returns = span_starts(marker, "# 0 \"\" 2"); /* behind a compiler's inline assembly */
    while (end[-1] != '"')                            /* flags */
        end--;
    while (*c == ' ' || *c == '\t')
        c++;
    struct line_marker found = {.statement = (uint32_t)unit->statements.count,
                                .line = line + 1,
                                .number = returns ? line + 1 : read_number(c, (size_t)(quote - c)),
                                .file = (uint32_t)(quote - unit->text),
                                .file_length = returns ? 0 : (uint32_t)(end - quote)};
    vector_push(&unit->arena, &unit->markers, found);
}

void note_renamed_file(struct unit *unit, struct span name) {
    size_t count = unit->markers.count;
    if (!count)
        return;
    struct line_marker renamed = unit->markers.data[count - 1];
    renamed.statement = (uint32_t)unit->statements.count + 1;
    renamed.file = (uint32_t)(name.start - unit->text);
    renamed.file_length = (uint32_t)name.length;
    vector_push(&unit->arena, &unit->markers, renamed);
}

const struct line_marker *marker_of(const struct unit *unit, uint32_t statement) {
    size_t low = 0, high = unit->markers.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (unit->markers.data[middle].statement <= statement)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &unit->markers.data[low - 1] : NULL;
}

bool is_one_line(const struct unit *unit, uint32_t left, uint32_t right) {
    return unit->statements.data[left].line == unit->statements.data[right].line &&
           marker_of(unit, left) == marker_of(unit, right);
}

void write_quoted(struct buffer *out, const char *name) {
    buffer_text(out, "\"");
    for (const char *c = name; *c; c++) {
        if (*c == '"' || *c == '\\')
            buffer_text(out, "\\");
        buffer_add(out, c, 1);
    }
    buffer_text(out, "\"");
}

/* Writes a marker by which LINE of the text has its own number and file. */
static void write_own_line(struct buffer *out, const struct unit *unit, uint32_t line) {
    buffer_print(out, "\n# %u ", line);
    write_quoted(out, unit->name);
    buffer_text(out, "\n");
}

void write_marker(struct buffer *out, const struct unit *unit, uint32_t statement) {
    const struct line_marker *marker = marker_of(unit, statement);
    uint32_t line = unit->statements.data[statement].line;
    if (marker && marker->file_length)
        buffer_print(out, "\n# %u %.*s\n", line - marker->line + marker->number,
                     (int)marker->file_length, unit->text + marker->file);
    else
        write_own_line(out, unit, line);
}

void keep_own_lines(const struct unit *unit, struct edit_list *edits) {
    struct buffer text = {0};
    for (uint32_t i = 0; i < unit->statements.count; i++) {
        const struct statement *s = &unit->statements.data[i];
        if (marker_of(unit, i) || !statement_is(unit, s, ".file"))
            continue;
        write_marker(&text, unit, i);
        insert_behind(edits, s, arena_copy(edits->arena, text.data, text.count));
        text.count = 0;
    }
    for (size_t i = 0; i < unit->markers.count; i++) {
        const struct line_marker *marker = &unit->markers.data[i];
        const char *line = unit->text + marker->file;
        const char *end = memchr(line, '\n', unit->size - marker->file);
        if (marker->file_length || !end)
            continue;
        write_own_line(&text, unit, marker->line);
        replace_text(edits, (uint32_t)(end + 1 - unit->text), 0,
                     arena_copy(edits->arena, text.data, text.count));
        text.count = 0;
    }
    buffer_release(&text);
}
