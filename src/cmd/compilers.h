/* compilers.h: the compilers that our names stand for. */
#ifndef QUIPU_CMD_COMPILERS_H
#define QUIPU_CMD_COMPILERS_H

#include "util/arena.h"

/* The compiler, or the archive tool of one, that a program called NAME ("quipu-clang", with or
 * without directories) stands for: one that PATH finds, where there is one.  Lives in ARENA, or as
 * long as NAME. */
const char *compiler_for(struct arena *arena, const char *name);

#endif
