/* lines.h: source files and lines of instructions, out of DWARF. */
#ifndef QUIPU_DATA_LINES_H
#define QUIPU_DATA_LINES_H

#include "data/profile.h"
#include "util/map.h"

/* Gives file, line and copy to every instruction of MODULE, and file and line to every function,
 * as far as its binary or its separate debug file has debug information.  FILE_NUMBERS maps names
 * to indexes in profile.files and is filled in on the way. */
void lines_read(struct profile *profile, struct map *file_numbers, struct module *module);

#endif
