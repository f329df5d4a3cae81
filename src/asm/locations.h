/* locations.h: the source line of each instruction, from the .loc directives. */
#ifndef QUIPU_ASM_LOCATIONS_H
#define QUIPU_ASM_LOCATIONS_H

#include "asm/lex.h"
#include "asm/unit.h"
#include "util/buffer.h"

/* Records a .loc with ARGUMENTS. It applies from the unit's next statement on. */
void note_location(struct unit *unit, struct span arguments);

/* Records a numbered .file with ARGUMENTS. It is the unit's next statement. */
void note_numbered_file(struct unit *unit, struct span arguments);

/* Returns the .file directive of the location's file, or NULL if there is none. It may be anywhere
 * before the location. Sets NUMBER to the number of the file. */
const struct statement *file_of(const struct unit *unit, const struct location *location,
                                uint32_t *number);

/* Returns the location in force at the statement, or NULL if there is none. It may belong to the
 * function above: a unit has locations for all its functions, or for none. */
const struct location *location_of(const struct unit *unit, uint32_t statement);

/* Writes a directive that repeats the location. It does not depend on the directives in between.
 * LABELS: the unit's counter of labels. */
void write_location(struct buffer *out, const struct unit *unit, const struct location *location,
                    uint32_t *labels);

#endif
