/* demangle.c: names of C++, D and Rust as their programmers wrote them; see demangle.h.  libiberty
 * does the work. */
#include "data/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

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
