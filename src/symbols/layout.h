/* layout.h: whether the linker has put all cells and tables of a module between their begin and
 * end. */
#ifndef QUIPU_SYMBOLS_LAYOUT_H
#define QUIPU_SYMBOLS_LAYOUT_H

#include "util/arena.h"

#include <stdbool.h>

struct binary;

/* Returns NULL, or an error message if the runtime does not find all cells and tables. */
const char *check_layout(struct arena *arena, const struct binary *binary);

/* Returns NULL, or an error message if notes have another version than those of this quipu. */
const char *check_versions(struct arena *arena, const struct binary *binary);

/* Does both checks for the file at PATH. Returns NULL or an error message; also NULL if PATH is no
 * such file. Sets *WATCHED if its stores have checks. It is in binary.c. */
const char *check_linked(struct arena *arena, const char *path, bool *watched);

#endif
