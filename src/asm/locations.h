/* locations.h: which line of the source each instruction is of, by the .loc directives. */
#ifndef QUIPU_ASM_LOCATIONS_H
#define QUIPU_ASM_LOCATIONS_H

#include "asm/lex.h"
#include "asm/unit.h"
#include "util/buffer.h"

/* ARGUMENTS: of a .loc that stands in front of the unit's next statement. */
void note_location(struct unit *unit, struct span arguments);

/* ARGUMENTS: of a .file with a number, which is the unit's next statement. */
void note_numbered_file(struct unit *unit, struct span arguments);

/* The .file directive of the location's file; NULL where there is none.  It may stand anywhere in
 * front of the location. */
const struct statement *file_of(const struct unit *unit, const struct location *location,
                                uint32_t *number);

/* The one in force at the statement; NULL where there is none.  It may be of the function above: a
 * unit has them for all its functions, or for none. */
const struct location *location_of(const struct unit *unit, uint32_t statement);

/* A directive that says so again, whatever has been said in between.  LABELS: the unit's counter of
 * labels. */
void write_location(struct buffer *out, const struct unit *unit, const struct location *location,
                    uint32_t *labels);

#endif
