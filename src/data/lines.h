/* lines.h: source files and lines of instructions, from DWARF. */
#ifndef QUIPU_DATA_LINES_H
#define QUIPU_DATA_LINES_H

#include "data/profile.h"

#include <elfutils/libdw.h>

/* Sets file, line and copy of every instruction of MODULE, and file and line of every function, if
 * its binary or its separate debug file has debug information. Adds the files to profile.files. */
void lines_read(struct profile *profile, struct module *module);

/* Files and lines of all code of a module, with or without notes. */
struct module_lines;

/* Returns those of MODULE, in ARENA. Without debug information there are none. */
struct module_lines *module_lines(struct arena *arena, struct profile *profile,
                                  const struct module *module);

/* Sets FILE, an index in profile.files, and LINE to those of the code at ADDRESS, as linked. Sets
 * both to 0 if they are unknown. */
void lines_find(const struct module_lines *lines, uint64_t address, uint32_t *file, uint32_t *line);

/* Returns the file in which DIE, or its abstract origin, was declared, and sets UNIT to the unit
 * with that information. Returns NULL if it is unknown. dwarf_decl_file is not used: if a split
 * unit has no table of files, an assertion in it ends the program (elfutils 0.188). */
const char *declaration_file(Dwarf_Die *die, Dwarf_Die *unit);

#endif
