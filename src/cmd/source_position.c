/* source_position.c: where a message about a function points; see source_position.h.
 *
 * A compiler hands its text to the assembler in a temporary file, or by a pipe. The user never sees
 * such a file, and it is gone when the user reads the message. The text names its source (.file),
 * and with -g also the line of each function (.loc).
 *
 * Not perfect: without -g the line is not known, and neither is that of a function whose first line
 * is in another file, such as a header. */
#include "cmd/source_position.h"
#include "asm/locations.h"
#include "util/path.h"

#include <stdlib.h>
#include <string.h>

static bool is_in_directory(const char *name, const char *directory) {
    size_t length = directory ? strlen(directory) : 0;
    while (length && directory[length - 1] == '/')
        length--;
    return length && strncmp(name, directory, length) == 0 && name[length] == '/';
}

static size_t stem_length(const char *base) {
    const char *dot = strrchr(base, '.');
    return dot ? (size_t)(dot - base) : strlen(base);
}

/* Whether the two names are equal, but for directory and extension. */
static bool have_one_stem(const char *left, const char *right) {
    left = last_part(left);
    right = last_part(right);
    return stem_length(left) == stem_length(right) && strncmp(left, right, stem_length(left)) == 0;
}

/* Whether the unit's input is one that a compiler made and removes. */
static bool is_temporary(const struct unit *unit) {
    if (!unit->compiled || !unit->source[0] || unit->source[0] == '<')
        return false;
    if (unit->name[0] == '{')
        return true; /* a pipe */
    return (is_in_directory(unit->name, getenv("TMPDIR")) || is_in_directory(unit->name, "/tmp") ||
            is_in_directory(unit->name, "/var/tmp")) &&
           !have_one_stem(unit->name, unit->source);
}

/* Returns the name, with its directory, of LOCATION's file, or NULL if that is not the unit's
 * source. */
static const char *name_in_source(const struct unit *unit, const struct location *location,
                                  struct arena *arena) {
    const struct statement *file = numbered_file(unit, location_file(unit, location));
    if (!file)
        return NULL;
    const char *base = last_part(unit->source), *text = unit->text + file->start;
    const char *found = memmem(text, file->end - file->start, base, strlen(base)), *first = found;
    if (!found || found[strlen(base)] != '"')
        return NULL;
    while (first > text && first[-1] != '"')
        first--;
    return first == found || found[-1] == '/'
               ? arena_copy(arena, first, (size_t)(found - first) + strlen(base))
               : NULL;
}

/* Returns FUNCTION's first location, or NULL. */
static const struct location *first_location(const struct unit *unit,
                                             const struct asm_function *function) {
    uint32_t number = (uint32_t)(function - unit->functions.data);
    for (size_t i = 0; i < unit->locations.count; i++) {
        const struct location *location = &unit->locations.data[i];
        if (location->statement < unit->statements.count &&
            unit->function_of[location->statement] == number)
            return location;
    }
    return NULL;
}

struct source_position position_of_function(const struct unit *unit,
                                            const struct asm_function *function,
                                            struct arena *arena) {
    if (!is_temporary(unit))
        return (struct source_position){unit->name, function->line};
    const struct location *location = first_location(unit, function);
    const char *name = location ? name_in_source(unit, location, arena) : NULL;
    const char *line = name ? strchr(unit->text + location->start, ' ') : NULL;
    if (!line)
        return (struct source_position){unit->source, 0};
    return (struct source_position){name, (unsigned)strtoul(line, NULL, 10)};
}
