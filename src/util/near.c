/* near.c: suggests names that the user may have meant; see near.h. */
#include "util/near.h"

#include "util/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_LENGTH = 255, /* longer names are not near to any */
    NAMES_MAX = sizeof((struct near_names *)NULL)->names / sizeof(const char *),
};

#define SUGGESTION "; did you mean "

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* Returns how many letters must be changed, added, removed or swapped with the next one, each at
 * most once, to make B of A: the "optimal string alignment" distance. */
static unsigned distance(const char *a, const char *b) {
    unsigned rows[3][NAME_MAX_LENGTH + 1]; /* for the first i, i - 1 and i - 2 letters of A */
    unsigned *row = rows[0], *above = rows[1], *second = rows[2];
    size_t length = strlen(b);
    if (strlen(a) > NAME_MAX_LENGTH || length > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (size_t k = 0; k <= length; k++)
        row[k] = (unsigned)k;
    for (size_t i = 1; a[i - 1]; i++) {
        unsigned *oldest = second;
        second = above;
        above = row;
        row = oldest;
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= length; k++) {
            row[k] = least(above[k - 1] + (a[i - 1] != b[k - 1]), least(above[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = least(row[k], second[k - 2] + 1);
        }
    }
    return row[length];
}

void offer_name(void *near_names, const char *name) {
    offer_name_as(near_names, name, name);
}

/* Whether SHOWN is among the names already, or is the wanted name itself. */
static bool is_known(const struct near_names *near_names, const char *shown) {
    bool known = strcmp(shown, near_names->wanted) == 0;
    for (size_t i = 0; i < near_names->count; i++)
        known |= strcmp(near_names->names[i], shown) == 0;
    return known;
}

/* Returns the distance of NAME from the wanted name, or NAME_MAX_LENGTH if it is not near. */
static unsigned near_distance(const struct near_names *near_names, const char *name) {
    size_t length = strlen(near_names->wanted), own = strlen(name);
    size_t most = length < 4 ? 1 : length < 9 ? 2 : length / 3;
    size_t longer = own > length ? own - length : length - own;
    unsigned far = longer > most ? NAME_MAX_LENGTH : distance(near_names->wanted, name);
    return far > most || far >= length ? NAME_MAX_LENGTH : far;
}

bool is_near(const struct near_names *near_names, const char *name) {
    return near_distance(near_names, name) < NAME_MAX_LENGTH;
}

void offer_name_as(struct near_names *near_names, const char *name, const char *shown) {
    size_t at;
    unsigned far = near_distance(near_names, name);
    if (far == NAME_MAX_LENGTH || is_known(near_names, shown))
        return;
    at = near_names->count < NAMES_MAX ? near_names->count++ : NAMES_MAX;
    for (; at > 0 && near_names->distances[at - 1] > far; at--) {
        if (at == NAMES_MAX)
            continue;
        near_names->names[at] = near_names->names[at - 1];
        near_names->distances[at] = near_names->distances[at - 1];
    }
    if (at < NAMES_MAX) {
        near_names->names[at] = shown;
        near_names->distances[at] = far;
    }
}

const char *suggest(struct arena *arena, const struct near_names *near_names) {
    const char *text = "";
    for (size_t i = 0; i < near_names->count; i++) {
        if (near_names->distances[i] > near_names->distances[0] + 1)
            break; /* much farther than the first one */
        text = arena_print(arena, "%s%s'%s'", text, i ? " or " : SUGGESTION, near_names->names[i]);
    }
    return near_names->count ? arena_print(arena, "%s?", text) : "";
}

bool suggests(const char *text) {
    return strstr(text, SUGGESTION) != NULL;
}

void die_near(const struct near_names *near_names, const char *format, ...) {
    struct arena arena = {0};
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    die("%s%s", length < 0 ? near_names->wanted : text, suggest(&arena, near_names));
}

size_t choose_name(const char *option, const char *kind, const char *word,
                   const char *(*name_at)(size_t number)) {
    struct arena arena = {0};
    struct near_names near_names = {.wanted = word};
    const char *name, *names = "";
    size_t count = 0;
    for (; (name = name_at(count)); count++) {
        if (strcmp(name, word) == 0) {
            arena_release(&arena);
            return count;
        }
        offer_name(&near_names, name);
        names = arena_print(&arena, "%s%s%s", names,
                            count ? name_at(count + 1) ? ", " : " or " : "", name);
    }
    die_near(&near_names, "'%s=%s': no such %s; give %s", option, word, kind, names);
}
