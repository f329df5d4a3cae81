/* lines.h: source files and lines of instructions, out of DWARF. */
#ifndef QUIPU_DATA_LINES_H
#define QUIPU_DATA_LINES_H

#include "data/profile.h"

/* Gives file, line and copy to every instruction of MODULE, and file and line to every function,
 * as far as its binary or its separate debug file has debug information.  profile.files is filled
 * in on the way. */
void lines_read(struct profile *profile, struct module *module);

/* File and line of any code of a module, also of what has no notes. */
struct line_table;

/* Reads the line table of MODULE into ARENA.  Without debug information it is empty. */
struct line_table *lines_table(struct arena *arena, struct profile *profile, struct module *module);

/* Sets FILE and LINE to those of the code at ADDRESS, as linked; both to 0 where none are known. */
void lines_find(const struct line_table *table, uint64_t address, uint32_t *file, uint32_t *line);

#endif
