/* locations.h: the source line of each instruction, from the .loc directives. */
#ifndef QUIPU_ASM_LOCATIONS_H
#define QUIPU_ASM_LOCATIONS_H

#include "asm/emit.h"
#include "asm/lex.h"
#include "asm/unit.h"
#include "util/buffer.h"

/* Records a .loc with ARGUMENTS. It applies from the unit's next statement on. */
void note_location(struct unit *unit, struct span arguments);

/* Records a numbered .file with ARGUMENTS. It is the unit's next statement. */
void note_numbered_file(struct unit *unit, struct span arguments);

/* Records MARKER, a line marker (lex.h) in LINE. */
void note_line_marker(struct unit *unit, struct span marker, uint32_t line);

/* Records a .file that is not numbered: the assembler takes NAME, in quotes, for that of the lines
 * behind it, too, if a line marker precedes it. It is the unit's next statement. */
void note_renamed_file(struct unit *unit, struct span name);

/* Returns the number of the location's file. */
uint32_t location_file(const struct unit *unit, const struct location *location);

/* Returns the .file directive of NUMBER, or NULL if there is none. It may be anywhere before the
 * locations of the file. */
const struct statement *numbered_file(const struct unit *unit, uint32_t number);

/* Returns the location in force at the statement, or NULL if there is none. It may belong to the
 * function above: a unit has locations for all its functions, or for none. */
const struct location *location_of(const struct unit *unit, uint32_t statement);

/* Returns the line of the padding of ALIGNMENT, a directive. It is in the file of the instruction
 * before the padding, or behind it if BEHIND becomes true. 0: the padding has file and line of the
 * instruction before it, or it is in a third file. */
uint32_t line_of_padding(const struct unit *unit, uint32_t alignment, bool *behind);

/* Writes a directive that repeats the location. It does not depend on the directives in between.
 * LABELS: the unit's counter of labels. */
void write_location(struct buffer *out, const struct unit *unit, const struct location *location,
                    uint32_t *labels);

/* Returns the line marker in force at the statement, or NULL if there is none. */
const struct line_marker *marker_of(const struct unit *unit, uint32_t statement);

/* Whether the assembler numbers LEFT and RIGHT, two statements, alike. */
bool is_one_line(const struct unit *unit, uint32_t left, uint32_t right);

/* Writes NAME as a string of the assembler's. */
void write_quoted(struct buffer *out, const char *name);

/* Writes a line marker, between newlines, by which the text behind it has the line of
 * STATEMENT. */
void write_marker(struct buffer *out, const struct unit *unit, uint32_t statement);

/* Adds EDITS by which text that the assembler reads from a pipe, behind a line marker, has the same
 * lines as in its file. */
void keep_own_lines(const struct unit *unit, struct edit_list *edits);

#endif
