/* source_paths.h: names of source files as other tools want them. */
#ifndef QUIPU_REPORT_SOURCE_PATHS_H
#define QUIPU_REPORT_SOURCE_PATHS_H

#include "data/profile.h"

/* The part of PATH behind the directory ROOT, or NULL where it is not below it.  Both normalized.
 */
const char *path_below(const char *path, const char *root);

/* The deepest directory that holds all of the COUNT normalized absolute PATHS; "/" where they share
 * none; "." where a path is relative.  NULL paths are passed over.  Lives in ARENA. */
char *common_directory(struct arena *arena, const char *const *paths, size_t count);

/* The profile's files by index, normalized; NULL for what is not below ROOT.  With ROOT NULL all
 * are in. */
const char **source_files(struct arena *arena, const struct profile *profile, const char *root);

#endif
