/* demangle.h: names of C++, D and Rust as their programmers wrote them. */
#ifndef QUIPU_DATA_DEMANGLE_H
#define QUIPU_DATA_DEMANGLE_H

#include "util/arena.h"

/* The name behind the symbol NAME, in ARENA; NAME itself where nothing is mangled. */
const char *demangle(struct arena *arena, const char *name);

#endif
