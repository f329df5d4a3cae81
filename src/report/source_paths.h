/* source_paths.h: names of source files for other tools. */
#ifndef QUIPU_REPORT_SOURCE_PATHS_H
#define QUIPU_REPORT_SOURCE_PATHS_H

#include "data/profile.h"

/* Returns the part of PATH behind the directory ROOT, or NULL if it is not below ROOT. Both are
 * normalized. */
const char *path_below(const char *path, const char *root);

/* Returns the deepest directory that contains all of the COUNT normalized absolute PATHS; "/": they
 * share none; ".": a path is relative, or there is none. NULL paths are skipped. Lives in ARENA. */
char *common_directory(struct arena *arena, const char *const *paths, size_t count);

/* Returns the profile's files by index, normalized; NULL for those that are not below ROOT. If ROOT
 * is NULL, all are included. */
const char **source_files(struct arena *arena, const struct profile *profile, const char *root);

#endif
