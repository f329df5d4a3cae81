/* c_library.h: a C library that 'quipu libc --build' has made, as a directory. */
#ifndef QUIPU_CMD_C_LIBRARY_H
#define QUIPU_CMD_C_LIBRARY_H

#include "cmd/options.h"
#include "util/arena.h"

#include <stdbool.h>

/* Its description, a text file of two lines: the kind, and the identity of the quipu that has built
 * it. It is written when the library is complete. */
#define C_LIBRARY_FILE "quipu-libc"

/* Returns what of OPTIONS must be the same for a program and its C library: the modes and the
 * events, such as "count+event:event=loads". In the options' arena. */
const char *c_library_kind(struct shim_options *options);

/* Returns the path of the specs by which COMPILER uses the library in DIRECTORY, in ARENA. LINKS:
 * something is linked with it. Ends the program with an error if there is no library; if the
 * compiler is not gcc for C; or, for a link, if the library is of another kind than OPTIONS, or
 * another quipu has built it. */
const char *find_c_library_specs(struct arena *arena, const char *directory, const char *compiler,
                                 struct shim_options *options, bool links);

#endif
