/* demangle.h: names of C++, D and Rust as the source has them. */
#ifndef QUIPU_SYMBOLS_DEMANGLE_H
#define QUIPU_SYMBOLS_DEMANGLE_H

#include "util/arena.h"

#include <stdbool.h>

/* Returns the demangled NAME, in ARENA. Returns NAME itself if it is not mangled. */
const char *demangle(struct arena *arena, const char *name);

/* Returns the demangled NAME without parameters. Removes what the compiler adds to the name of a
 * part or a copy of a function (.part.0, .constprop.0, .cold). */
const char *plain_name(struct arena *arena, const char *name);

/* Demangles the symbol in TEXT, a buffer of SIZE bytes that binary_name has filled: "table+0x10",
 * "puts@plt". TEXT does not change if the result is too long. */
void demangle_name(char *text, size_t size);

/* Whether TEXT is the symbol NAME, or its demangled name with or without parameters: "_ZN2ns1fEi",
 * "ns::f(int)" or "ns::f". Blanks may differ, except between two words. */
bool is_called(const char *name, const char *text);

/* Returns NAME, a result of `demangle`, in a form for messages. A long name loses the long
 * arguments of templates and functions, and its return type: "std::vector<...>::push_back(...)". */
const char *short_name(struct arena *arena, const char *name);

#endif
