/* compilers.h: finds the compilers for quipu's names. */
#ifndef QUIPU_CMD_COMPILERS_H
#define QUIPU_CMD_COMPILERS_H

#include "util/arena.h"

/* Returns the compiler, or gcc's archive tool, for a program called NAME ("quipu-clang", with or
 * without directories). If PATH has a suitable one, returns that. The result lives in ARENA, or as
 * long as NAME. */
const char *compiler_for(struct arena *arena, const char *name);

#endif
