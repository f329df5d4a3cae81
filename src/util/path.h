/* path.h: names of files as text. */
#ifndef QUIPU_UTIL_PATH_H
#define QUIPU_UTIL_PATH_H

#include "util/arena.h"

#include <stdbool.h>

/* PATH with "." and ".." and double slashes taken out, as text: no link is followed.  Lives in
 * ARENA. */
char *normalize_path(struct arena *arena, const char *path);

/* The same of NAME, which is relative to DIRECTORY, where that is not NULL. */
char *path_in(struct arena *arena, const char *directory, const char *name);

/* What stands behind the last slash of PATH, or all of it. */
const char *last_part(const char *path);

/* Whether PATH is NAME, or ends in it behind a '/'. */
bool ends_in(const char *path, const char *name);

/* The next one of the directories in *REST, a list as in PATH, or NULL behind the last.  Lives in
 * ARENA. */
const char *next_directory(struct arena *arena, const char **rest);

/* The path of the program that NAME would run, as execvp finds it; NULL where there is none.  Lives
 * in ARENA. */
const char *find_program(struct arena *arena, const char *name);

#endif
