/* compilers.h: finds the compilers for quipu's names. */
#ifndef QUIPU_CMD_COMPILERS_H
#define QUIPU_CMD_COMPILERS_H

#include "util/arena.h"

#include <stdbool.h>

/* Returns the compiler, or gcc's archive tool, for a program called NAME ("quipu-clang", with or
 * without directories). If PATH has a suitable one, returns that. The result lives in ARENA, or as
 * long as NAME. */
const char *compiler_for(struct arena *arena, const char *name);

/* Whether NAME is one of quipu's own names, such as 'fortran', with or without a version. */
bool is_own_name(const char *name);

/* Whether COMMAND, a name or path, is that of a compiler that quipu can run: gcc,
 * x86_64-linux-gnu-g++-12, /usr/bin/cc, ... */
bool is_compiler(struct arena *arena, const char *command);

#endif
