/* locations.c: the source line of each instruction, from the .loc directives; see locations.h.
 *
 * Code that is copied keeps its lines, for debuggers. */
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
static bool next_is_statement(struct span text, bool before) {
    static const char name[] = "is_stmt ";
    const char *found = memmem(text.start, text.length, name, strlen(name));
    if (!found || found + strlen(name) >= text.start + text.length)
        return before;
    return found[strlen(name)] != '0';
}

void note_location(struct unit *unit, struct span arguments) {
    size_t count = unit->locations.count;
    bool before = count == 0 || unit->locations.data[count - 1].is_statement;
    struct location location = {.statement = (uint32_t)unit->statements.count,
                                .start = (uint32_t)(arguments.start - unit->text),
                                .length = leading_numbers(arguments),
                                .is_statement = next_is_statement(arguments, before),
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

const struct statement *file_of(const struct unit *unit, const struct location *location,
                                uint32_t *number) {
    *number = read_number(unit->text + location->start, location->length);
    if (*number >= unit->files.count || unit->files.data[*number] == NONE)
        return NULL;
    return &unit->statements.data[unit->files.data[*number]];
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

/* If other locations have views, this one gets a view, too: the assembler's time is quadratic in
 * the number of locations without one. */
void write_location(struct buffer *out, const struct unit *unit, const struct location *location,
                    uint32_t *labels) {
    buffer_print(out, ".loc %.*s is_stmt %d", (int)location->length, unit->text + location->start,
                 location->is_statement);
    if (location->has_view)
        buffer_print(out, " view .LQw%u", ++*labels);
}
