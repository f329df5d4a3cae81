/* path.h: file names as text. */
#ifndef QUIPU_UTIL_PATH_H
#define QUIPU_UTIL_PATH_H

#include "util/arena.h"

#include <stdbool.h>

/* Returns PATH without ".", ".." and double slashes. Only the text counts: no link is followed, and
 * ".." at the begin of a relative path stays. Lives in ARENA. */
char *normalize_path(struct arena *arena, const char *path);

/* The same for NAME, which is relative to DIRECTORY unless it is absolute or DIRECTORY is NULL. */
char *path_in(struct arena *arena, const char *directory, const char *name);

/* Returns the part of PATH behind its last slash, or all of PATH if it has none. */
const char *last_part(const char *path);

/* Whether PATH is NAME, or ends in '/' and NAME. */
bool ends_in(const char *path, const char *name);

/* Returns the next directory of *REST, a list as in PATH, and moves *REST behind it. Returns NULL
 * behind the last one. Lives in ARENA. */
const char *next_directory(struct arena *arena, const char **rest);

/* Returns the path of the program that execvp would run for NAME, or NULL if there is none. Lives
 * in ARENA. */
const char *find_program(struct arena *arena, const char *name);

#endif
