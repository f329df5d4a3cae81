/* object.h: the shared object that a moment is of, once a program has loaded it. */
#ifndef QUIPU_MOMENT_OBJECT_H
#define QUIPU_MOMENT_OBJECT_H

#include "symbols/binary.h"

#include <sys/types.h>

/* The path of the loader that PROGRAM names; NULL: it needs none. */
const char *find_loader(struct arena *arena, const struct binary *program);

/* The address, as linked, of the place in PROGRAM's loader where it comes by when it has loaded
 * objects, before any of their code is executed; 0: PROGRAM has no loader, or that tells nothing.
 */
uint64_t find_loader_hook(struct arena *arena, const struct binary *program);

/* Finds what PROCESS has loaded whose build id begins with the digits BUILD.  Returns its path in
 * ARENA, and its BIAS, where it was loaded, minus where it was linked; NULL: nothing, yet. */
const char *find_object(struct arena *arena, pid_t process, const char *build, uint64_t *bias);

#endif
