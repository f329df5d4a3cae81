/* spelling.h: one spelling of names that have template arguments. */
#ifndef QUIPU_SYMBOLS_SPELLING_H
#define QUIPU_SYMBOLS_SPELLING_H

#include "util/arena.h"

/* Returns NAME in a spelling that is the same whichever compiler or user wrote it: for
 * "pool<long int>" and "pool< long >", "map<char *, unsigned long>" and "map<char*, long unsigned
 * int>".  It lies in ARENA, or is NAME where that has no arguments. */
const char *one_spelling(struct arena *arena, const char *name);

/* What a function is called with, "(int, long)", of LENGTH, in one spelling that lies in ARENA. */
const char *one_parameters(struct arena *arena, const char *text, size_t length);

/* NAME without what a function in it is called with, which PARAMETERS is set to, in one spelling:
 * "work(long int)::calls" to "work::calls", "(long)".  NULL: nothing stands there. */
const char *without_parameters(struct arena *arena, const char *name, const char **parameters);

/* NAME without the arguments of templates: "pool::total" of "pool<int>::total". */
const char *without_arguments(struct arena *arena, const char *name);

#endif
