/* scopes.h: the scopes around an entry of debug information. */
#ifndef QUIPU_SYMBOLS_SCOPES_H
#define QUIPU_SYMBOLS_SCOPES_H

#include "util/arena.h"

#include <elfutils/libdw.h>

enum {
    SCOPES_MAX = 64
};

/* The tree of a binary's debug information, from children to parents. A unit is read when it is
 * first needed. */
struct scope_index;

/* Returns an empty index. It and what is read live in ARENA. */
struct scope_index *make_scope_index(struct arena *arena);

/* Sets SCOPES to DIE and the entries around it, from the inside to its unit. Returns their number,
 * or 0 if there are more than SCOPES_MAX. */
int scopes_around(struct scope_index *index, Dwarf_Die *die, Dwarf_Die scopes[SCOPES_MAX]);

#endif
