/* lines.h: source files and lines of instructions, out of DWARF. */
#ifndef QUIPU_DATA_LINES_H
#define QUIPU_DATA_LINES_H

#include "data/profile.h"

#include <elfutils/libdw.h>

/* Gives file, line and copy to every instruction of MODULE, and file and line to every function,
 * as far as its binary or its separate debug file has debug information.  profile.files is filled
 * in on the way. */
void lines_read(struct profile *profile, struct module *module);

/* Files and lines of any code of a module, also of what has no notes. */
struct module_lines;

/* Those of MODULE, in ARENA.  Without debug information there are none. */
struct module_lines *module_lines(struct arena *arena, struct profile *profile,
                                  const struct module *module);

/* Sets FILE, by its index in profile.files, and LINE to those of the code at ADDRESS, as linked;
 * both to 0 where none are known. */
void lines_find(const struct module_lines *lines, uint64_t address, uint32_t *file, uint32_t *line);

/* The file that DIE, or what it is an instance of, was declared in, and the UNIT that tells so. Not
 * dwarf_decl_file: that ends the program by an assertion where a split unit has no table of files
 * (elfutils 0.188).  NULL: not known. */
const char *declaration_file(Dwarf_Die *die, Dwarf_Die *unit);

#endif
