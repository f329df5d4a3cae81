/* demangle.h: names of C++, D and Rust as their programmers wrote them. */
#ifndef QUIPU_SYMBOLS_DEMANGLE_H
#define QUIPU_SYMBOLS_DEMANGLE_H

#include "util/arena.h"

#include <stdbool.h>

/* The name behind the symbol NAME, in ARENA; NAME itself where nothing is mangled. */
const char *demangle(struct arena *arena, const char *name);

/* Likewise, but without parameters, and without what the compiler has added to the name of a part
 * or copy of the function (.part.0, .constprop.0, .cold). */
const char *plain_name(struct arena *arena, const char *name);

/* Demangles the symbol in what binary_name wrote into TEXT, of SIZE: "table+0x10", "puts@plt". TEXT
 * stays where there is no room. */
void demangle_name(char *text, size_t size);

/* Whether TEXT is the symbol NAME, or the name behind it, with or without what it is called with:
 * "_ZN2ns1fEi", "ns::f(int)" or "ns::f".  Blanks need not be the same, but between words. */
bool is_called(const char *name, const char *text);

/* NAME, as `demangle` gave it, for a line that people read: where it is long, without what a
 * template or function is called with, and without what it returns:
 * "std::vector<...>::push_back(...)". */
const char *short_name(struct arena *arena, const char *name);

#endif
