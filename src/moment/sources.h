/* sources.h: the functions and source files of the code at an address. */
#ifndef QUIPU_MOMENT_SOURCES_H
#define QUIPU_MOMENT_SOURCES_H

#include "symbols/binary.h"

#include <stdint.h>

/* Adds the symbols of the functions that are inlined at ADDRESS, as linked, the outermost first.
 * For a function without a symbol its name is added. All strings are in ARENA. */
void find_inlined(struct arena *arena, const struct binary *binary, uint64_t address,
                  text_vector *names);

/* Adds the source files of the code at ADDRESS, as linked: those of the functions that contain it,
 * from the innermost one, up to the first function in the file that was given to the compiler. So
 * code of a header belongs to the header and to the file that includes it. A function that several
 * files may share, out of line, belongs to the header alone. All strings are in ARENA. */
void find_sources(struct arena *arena, const struct binary *binary, uint64_t address,
                  text_vector *files);

#endif
