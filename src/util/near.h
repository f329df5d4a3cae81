/* near.h: the names that the user may have meant.
 *
 *     struct near_names near_names = {.wanted = word};
 *     for (...)
 *         offer_name(&near_names, row->name);
 *     die_near(&near_names, "'%s': no such row", word);
 *
 * A name is near where one letter in three is another one than was wanted, or two in all. */
#ifndef QUIPU_UTIL_NEAR_H
#define QUIPU_UTIL_NEAR_H

#include "util/arena.h"

#include <stdbool.h>

/* The nearest of those that were offered, which must live as long. */
struct near_names {
    const char *wanted;
    const char *names[3];
    unsigned distances[3];
    size_t count;
};

/* NEAR_NAMES is a struct near_names. */
void offer_name(void *near_names, const char *name);

/* The same of what is written SHOWN, where what was wanted is compared with NAME. */
void offer_name_as(struct near_names *near_names, const char *name, const char *shown);

/* "; did you mean 'a' or 'b'?", in ARENA, or "". */
const char *suggest(struct arena *arena, const struct near_names *near_names);

/* Whether TEXT has such a suggestion in it. */
bool suggests(const char *text);

/* An error that ends the program with status 1, as die() has it, and what it suggests behind it. */
_Noreturn void die_near(const struct near_names *near_names, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The number of WORD among the names that NAME_AT tells, NULL behind the last: a KIND, such as
 * "view", which OPTION takes.  Another word ends the program with an error that lists them. */
size_t choose_name(const char *option, const char *kind, const char *word,
                   const char *(*name_at)(size_t number));

#endif
