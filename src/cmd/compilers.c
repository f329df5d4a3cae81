/* compilers.c: the compilers that our names stand for.
 *
 * quipu-NAME and quipu-NAME-VERSION stand for NAME and NAME-VERSION; some names are our own, such
 * as 'fortran', and stand for the first of a few that is installed.  A name without a version is
 * the compiler that PATH finds by it; where there is none, and there often is no 'clang', the one
 * of the highest version. */
#include "cmd/compilers.h"

#include "util/path.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHOICES = 2
};

/* Names of ours that are no compiler's, and the compilers, the best one first. */
static const struct {
    const char *name, *compilers[CHOICES];
} names[] = {
    {"cc", {"gcc"}}, {"c++", {"g++"}}, {"fortran", {"gfortran"}}, {"ada", {"gnatgcc", "gcc"}},
    {"d", {"gdc"}},
};

/* The length of NAME without a version, of digits and dots behind a hyphen. */
static size_t length_of_stem(const char *name) {
    const char *hyphen = strrchr(name, '-');
    if (!hyphen || !hyphen[1] || hyphen[1 + strspn(hyphen + 1, "0123456789.")])
        return strlen(name);
    return (size_t)(hyphen - name);
}

/* The highest N of the programs COMPILER-N in DIRECTORY; at least BEST. */
static long highest_version(struct arena *arena, const char *directory, const char *compiler,
                            long best) {
    DIR *stream = opendir(directory);
    if (!stream)
        return best;
    size_t length = strlen(compiler);
    for (const struct dirent *entry; (entry = readdir(stream));) {
        const char *name = entry->d_name;
        if (strncmp(name, compiler, length) != 0 || name[length] != '-')
            continue;
        char *end;
        long version = strtol(name + length + 1, &end, 10);
        if (version > best && !*end && find_program(arena, name))
            best = version;
    }
    closedir(stream);
    return best;
}

/* COMPILER-N of the highest version that PATH has; NULL: none. */
static const char *newest(struct arena *arena, const char *compiler) {
    const char *path = getenv("PATH");
    long best = 0;
    while (path && *path) {
        size_t length = strcspn(path, ":");
        const char *directory = length ? arena_copy(arena, path, length) : ".";
        best = highest_version(arena, directory, compiler, best);
        path += length + (path[length] == ':');
    }
    return best ? arena_print(arena, "%s-%ld", compiler, best) : NULL;
}

/* The first of CHOICES, with VERSION behind each, that there is; else of the newest; else NULL. */
static const char *first_there_is(struct arena *arena, const char *const *choices,
                                  const char *version) {
    for (size_t i = 0; i < CHOICES && choices[i]; i++) {
        const char *compiler = arena_print(arena, "%s%s", choices[i], version);
        if (find_program(arena, compiler))
            return compiler;
    }
    for (size_t i = 0; i < CHOICES && choices[i] && !*version; i++) {
        const char *compiler = newest(arena, choices[i]);
        if (compiler)
            return compiler;
    }
    return NULL;
}

const char *compiler_for(struct arena *arena, const char *path) {
    const char *name = last_part(path);
    name = strncmp(name, "quipu-", 6) == 0 ? name + 6 : "cc";
    size_t length = length_of_stem(name);
    const char *itself[CHOICES] = {arena_copy(arena, name, length)}, *const *choices = itself;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(itself[0], names[i].name) == 0)
            choices = names[i].compilers;
    const char *found = first_there_is(arena, choices, name + length);
    return found ? found : arena_print(arena, "%s%s", choices[0], name + length);
}
