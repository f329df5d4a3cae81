/* identity.h: what an object depends on beside its source and its options, as text for caches. */
#ifndef QUIPU_CMD_IDENTITY_H
#define QUIPU_CMD_IDENTITY_H

#include "util/arena.h"

/* The version and the build of this program, "0.1.0-0123456789abcdef". */
const char *own_identity(struct arena *arena);

/* The path of the compiler that NAME runs, and what tells that it was replaced.  Caches and
 * spreaders of compilations that stand in front of it in PATH are passed over. */
const char *compiler_identity(struct arena *arena, const char *name);

/* A hash of the data file PATH, or of all files in the directory PATH. */
const char *content_identity(struct arena *arena, const char *path);

#endif
