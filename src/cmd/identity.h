/* identity.h: what determines an object, apart from its source and options, as text for caches. */
#ifndef QUIPU_CMD_IDENTITY_H
#define QUIPU_CMD_IDENTITY_H

#include "util/arena.h"

/* Returns the version and build of this program, "0.1.0-0123456789abcdef". */
const char *own_identity(struct arena *arena);

/* Returns the path of the compiler that NAME runs, and its size and time, which change when it is
 * replaced. Caches and distributors of compilations in front of it in PATH are skipped. */
const char *compiler_identity(struct arena *arena, const char *name);

/* Returns a hash of the data file PATH, or of all files in the directory PATH. */
const char *content_identity(struct arena *arena, const char *path);

#endif
