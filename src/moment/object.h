/* object.h: finds a moment's shared object, once a program has loaded it. */
#ifndef QUIPU_MOMENT_OBJECT_H
#define QUIPU_MOMENT_OBJECT_H

#include "symbols/binary.h"

#include <sys/types.h>

/* Returns the path of the loader that PROGRAM names; NULL: it needs none. */
const char *find_loader(struct arena *arena, const struct binary *program);

/* Returns the address, as linked, in PROGRAM's loader that is executed when the loader has loaded
 * objects, and none of their code has run yet. 0: PROGRAM has no loader, or the loader has no such
 * hook. */
uint64_t find_loader_hook(struct arena *arena, const struct binary *program);

/* Finds the object in PROCESS whose build id begins with the digits BUILD. Returns its path in
 * ARENA, and its BIAS, the load address minus the linked address. NULL: it is not loaded (yet). */
const char *find_object(struct arena *arena, pid_t process, const char *build, uint64_t *bias);

#endif
