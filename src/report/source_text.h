/* source_text.h: source files of a profile, found and read. */
#ifndef QUIPU_REPORT_SOURCE_TEXT_H
#define QUIPU_REPORT_SOURCE_TEXT_H

#include "data/profile.h"

struct source_text {
    const char *path;   /* where it was found; NULL: nowhere */
    const char **lines; /* line n is lines[n - 1], without its end */
    size_t count;
    const char *looked; /* where it was looked for, for a message */
};

/* Source files by index in profile.files, each read when it is first asked for. */
struct sources {
    struct arena *arena;
    const struct profile *profile;
    char *const *directories; /* where else to look */
    size_t directory_count;
    struct source_text **texts; /* by index; NULL: not asked for yet */
};

struct sources sources_start(struct arena *arena, const struct profile *profile,
                             char *const *directories, size_t directory_count);

/* The text of FILE, never NULL: where it is not found, it has no lines.  It is looked for where the
 * debug information says, then below each directory by as many of its last components as possible.
 */
const struct source_text *source_text(struct sources *sources, uint32_t file);

/* Line LINE of it; NULL where it has none. */
const char *source_line(const struct source_text *text, uint32_t line);

#endif
