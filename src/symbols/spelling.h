/* spelling.h: one spelling of names that have template arguments. */
#ifndef QUIPU_SYMBOLS_SPELLING_H
#define QUIPU_SYMBOLS_SPELLING_H

#include "util/arena.h"

/* Returns NAME in one spelling, which does not depend on the compiler or user that wrote it. It is
 * the same for "pool<long int>" and "pool< long >", and for "map<char *, unsigned long>" and
 * "map<char*, long unsigned int>". It is in ARENA, or NAME itself if that has no template
 * arguments. */
const char *one_spelling(struct arena *arena, const char *name);

/* Returns the parameters of a function, such as "(int, long)", in one spelling. TEXT has LENGTH
 * bytes. The result is in ARENA. */
const char *one_parameters(struct arena *arena, const char *text, size_t length);

/* Returns NAME without the parameters of a function in it, and sets PARAMETERS to them in one
 * spelling: "work::calls" and "(long)" for "work(long int)::calls". If there are none, returns NAME
 * and does not set PARAMETERS. */
const char *without_parameters(struct arena *arena, const char *name, const char **parameters);

/* Returns NAME without the arguments of templates: "pool::total" for "pool<int>::total". */
const char *without_arguments(struct arena *arena, const char *name);

#endif
