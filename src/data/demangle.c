/* demangle.c: names of C++, D and Rust as their programmers wrote them; see demangle.h.
 *
 * libiberty does the work.  A build without it (QUIPU_DEMANGLE not defined) shows symbols. */
#include "data/demangle.h"

#include <string.h>

#ifdef QUIPU_DEMANGLE

#include <libiberty/demangle.h>
#include <stdlib.h>

const char *demangle(struct arena *arena, const char *name) {
    if (name[0] != '_')
        return name;
    char *text = cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
    if (!text)
        return name;
    const char *copy = arena_copy(arena, text, strlen(text));
    free(text);
    return copy;
}

#else

const char *demangle(struct arena *arena, const char *name) {
    (void)arena;
    return name;
}

#endif
