/* compilers.c: finds the compilers for quipu's names.
 *
 * quipu-NAME runs NAME, and quipu-NAME-VERSION runs NAME-VERSION. Some names are quipu's own, such
 * as 'fortran'. They run the first compiler of a list that is installed. For a name without a
 * version, quipu looks for that name in PATH, and then for the highest version: often there is no
 * 'clang' without a version. Not every gcc compiles Ada, and the one called 'gcc' may not. The
 * version of Ada's other tools shows which one does. */
#include "cmd/compilers.h"

#include "util/path.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHOICES = 2
};

/* quipu's own names, and their compilers, the best one first. */
static const struct name {
    const char *name, *compilers[CHOICES];
    const char *tool; /* TOOL-VERSION belongs to COMPILER-VERSION; NULL: there is none */
} names[] = {
    {"cc", {"gcc"}, NULL},
    {"c++", {"g++"}, NULL},
    {"fortran", {"gfortran"}, NULL},
    {"ada", {"gnatgcc", "gcc"}, "gnatmake"},
    {"d", {"gdc"}, NULL},
};

/* Returns the length of NAME without its version: digits and dots behind a hyphen. */
static size_t length_of_stem(const char *name) {
    const char *hyphen = strrchr(name, '-');
    if (!hyphen || !hyphen[1] || hyphen[1 + strspn(hyphen + 1, "0123456789.")])
        return strlen(name);
    return (size_t)(hyphen - name);
}

/* Returns the highest N of the programs COMPILER-N in DIRECTORY, at least BEST. */
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

/* Returns COMPILER-N with the highest version in PATH, or NULL. */
static const char *newest(struct arena *arena, const char *compiler) {
    const char *rest = getenv("PATH");
    long best = 0;
    for (const char *directory; (directory = next_directory(arena, &rest));)
        best = highest_version(arena, directory, compiler, best);
    return best ? arena_print(arena, "%s-%ld", compiler, best) : NULL;
}

/* Returns the first of COMPILERS, with VERSION behind it, that is installed, or NULL. */
static const char *first_there_is(struct arena *arena, const char *const *compilers,
                                  const char *version) {
    for (size_t i = 0; i < CHOICES && compilers[i]; i++) {
        const char *compiler = arena_print(arena, "%s%s", compilers[i], version);
        if (find_program(arena, compiler))
            return compiler;
    }
    return NULL;
}

/* Returns the compiler that belongs to the highest version of NAME's tool, if its first compiler is
 * not installed; otherwise NULL. */
static const char *one_with_tool(struct arena *arena, const struct name *name) {
    const char *tool =
        name->tool && !find_program(arena, name->compilers[0]) ? newest(arena, name->tool) : NULL;
    return tool ? first_there_is(arena, name->compilers, tool + strlen(name->tool)) : NULL;
}

/* Returns the highest version of the first of COMPILERS that is installed with any version, or
 * NULL. */
static const char *first_of_newest(struct arena *arena, const char *const *compilers) {
    for (size_t i = 0; i < CHOICES && compilers[i]; i++) {
        const char *compiler = newest(arena, compilers[i]);
        if (compiler)
            return compiler;
    }
    return NULL;
}

/* Returns the row of quipu's own name that NAME is without its version, or NULL. */
static const struct name *find_own_name(const char *name) {
    size_t length = length_of_stem(name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == length && strncmp(name, names[i].name, length) == 0)
            return &names[i];
    return NULL;
}

bool is_own_name(const char *name) {
    return find_own_name(name);
}

/* A cross compiler's name begins with its target and a hyphen. */
bool is_compiler(struct arena *arena, const char *command) {
    static const char *const compilers[] = {"cc",      "c++",      "gcc",     "g++", "clang",
                                            "clang++", "gfortran", "gnatgcc", "gdc"};
    const char *name = last_part(command);
    size_t length = length_of_stem(name);
    bool known = false;
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        size_t tail = strlen(compilers[i]);
        known |= length >= tail && strncmp(name + length - tail, compilers[i], tail) == 0 &&
                 (length == tail || name[length - tail - 1] == '-');
    }
    return known &&
           (name != command ? access(command, X_OK) == 0 : find_program(arena, name) != NULL);
}

const char *compiler_for(struct arena *arena, const char *path) {
    const char *name = last_part(path);
    name = strncmp(name, "quipu-", 6) == 0 ? name + 6 : "cc";
    size_t length = length_of_stem(name);
    const char *version = name + length;
    const struct name itself = {NULL, {arena_copy(arena, name, length)}, NULL};
    const struct name *known = find_own_name(name);
    if (!known)
        known = &itself;
    const char *found = *version ? NULL : one_with_tool(arena, known);
    if (!found)
        found = first_there_is(arena, known->compilers, version);
    if (!found && !*version)
        found = first_of_newest(arena, known->compilers);
    return found ? found : arena_print(arena, "%s%s", known->compilers[0], version);
}
