/* near.h: suggests names that the user may have meant.
 *
 *     struct near_names near_names = {.wanted = word};
 *     for (...)
 *         offer_name(&near_names, row->name);
 *     die_near(&near_names, "'%s': no such row", word);
 *
 * A name is near if few letters differ: one if the wanted name has up to 3 letters, two if it has
 * up to 8, and otherwise one letter in three. */
#ifndef QUIPU_UTIL_NEAR_H
#define QUIPU_UTIL_NEAR_H

#include "util/arena.h"

#include <stdbool.h>

/* The nearest of the offered names. The names must live as long as this. */
struct near_names {
    const char *wanted;
    const char *names[3];
    unsigned distances[3];
    size_t count;
};

/* Offers NAME to NEAR_NAMES, a struct near_names. */
void offer_name(void *near_names, const char *name);

/* Whether NAME differs in few letters from the wanted one. */
bool is_near(const struct near_names *near_names, const char *name);

/* The same as offer_name, but NAME is compared with the wanted name, and SHOWN is suggested. */
void offer_name_as(struct near_names *near_names, const char *name, const char *shown);

/* Returns "; did you mean 'a' or 'b'?", in ARENA, or "" if no name is near. */
const char *suggest(struct arena *arena, const struct near_names *near_names);

/* Whether TEXT contains such a suggestion. */
bool suggests(const char *text);

/* Prints an error with a suggestion behind it, and ends the program with status 1, like die(). */
_Noreturn void die_near(const struct near_names *near_names, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the number, from 0, of WORD among the names that NAME_AT returns. NAME_AT returns NULL
 * behind the last name. The names are those of a KIND, such as "view", that OPTION takes. Any other
 * WORD ends the program with an error that lists the names. */
size_t choose_name(const char *option, const char *kind, const char *word,
                   const char *(*name_at)(size_t number));

#endif
