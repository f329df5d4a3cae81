/* spelling.h: one spelling of names that have template arguments. */
#ifndef QUIPU_MOMENT_SPELLING_H
#define QUIPU_MOMENT_SPELLING_H

#include "util/arena.h"

/* Returns NAME in a spelling that is the same whichever compiler or user wrote it: for
 * "pool<long int>" and "pool< long >", "map<char *, unsigned long>" and "map<char*, long unsigned
 * int>".  It lies in ARENA, or is NAME where that has no arguments. */
const char *one_spelling(struct arena *arena, const char *name);

#endif
