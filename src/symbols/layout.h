/* layout.h: whether the linker has put a module's cells and tables between their begins and ends.
 */
#ifndef QUIPU_SYMBOLS_LAYOUT_H
#define QUIPU_SYMBOLS_LAYOUT_H

#include "util/arena.h"

#include <stdbool.h>

struct binary;

/* Returns NULL, or what lies elsewhere, where the runtime does not find it. */
const char *check_layout(struct arena *arena, const struct binary *binary);

/* Returns NULL, or that notes are of another version than this quipu's. */
const char *check_versions(struct arena *arena, const struct binary *binary);

/* Both of the file at PATH; NULL, too, where that is no such file.  Sets *WATCHED where its
 * stores have checks.  binary.c */
const char *check_linked(struct arena *arena, const char *path, bool *watched);

#endif
