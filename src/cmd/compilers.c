/* compilers.c: the compilers that our names stand for.
 *
 * quipu-NAME and quipu-NAME-VERSION stand for NAME and NAME-VERSION; some names are our own, such
 * as 'fortran', and stand for the first of a few that is installed.  A name without a version is
 * the compiler that PATH finds by it; where there is none, and there often is no 'clang', the one
 * of the highest version.  Not each gcc compiles Ada, and not always the one that goes by 'gcc':
 * the version of Ada's other tools tells which does. */
#include "cmd/compilers.h"

#include "util/path.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHOICES = 2
};

/* Names of ours that are no compiler's, and the compilers, the best one first. */
static const struct name {
    const char *name, *compilers[CHOICES];
    const char *tool; /* TOOL-VERSION comes with COMPILER-VERSION; NULL: nothing does */
} names[] = {
    {"cc", {"gcc"}, NULL},
    {"c++", {"g++"}, NULL},
    {"fortran", {"gfortran"}, NULL},
    {"ada", {"gnatgcc", "gcc"}, "gnatmake"},
    {"d", {"gdc"}, NULL},
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
    const char *rest = getenv("PATH");
    long best = 0;
    for (const char *directory; (directory = next_directory(arena, &rest));)
        best = highest_version(arena, directory, compiler, best);
    return best ? arena_print(arena, "%s-%ld", compiler, best) : NULL;
}

/* The first of COMPILERS, with VERSION behind each, that there is; else NULL. */
static const char *first_there_is(struct arena *arena, const char *const *compilers,
                                  const char *version) {
    for (size_t i = 0; i < CHOICES && compilers[i]; i++) {
        const char *compiler = arena_print(arena, "%s%s", compilers[i], version);
        if (find_program(arena, compiler))
            return compiler;
    }
    return NULL;
}

/* The one that TOOL's highest version comes with; else NULL. */
static const char *one_with_tool(struct arena *arena, const struct name *name) {
    const char *tool =
        name->tool && !find_program(arena, name->compilers[0]) ? newest(arena, name->tool) : NULL;
    return tool ? first_there_is(arena, name->compilers, tool + strlen(name->tool)) : NULL;
}

/* That of the highest version, of the first of COMPILERS that has any; else NULL. */
static const char *first_of_newest(struct arena *arena, const char *const *compilers) {
    for (size_t i = 0; i < CHOICES && compilers[i]; i++) {
        const char *compiler = newest(arena, compilers[i]);
        if (compiler)
            return compiler;
    }
    return NULL;
}

const char *compiler_for(struct arena *arena, const char *path) {
    const char *name = last_part(path);
    name = strncmp(name, "quipu-", 6) == 0 ? name + 6 : "cc";
    size_t length = length_of_stem(name);
    const char *version = name + length;
    struct name itself = {NULL, {arena_copy(arena, name, length)}, NULL};
    const struct name *known = &itself;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(itself.compilers[0], names[i].name) == 0)
            known = &names[i];
    const char *found = *version ? NULL : one_with_tool(arena, known);
    if (!found)
        found = first_there_is(arena, known->compilers, version);
    if (!found && !*version)
        found = first_of_newest(arena, known->compilers);
    return found ? found : arena_print(arena, "%s%s", known->compilers[0], version);
}
