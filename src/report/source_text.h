/* source_text.h: finds and reads the source files of a profile. */
#ifndef QUIPU_REPORT_SOURCE_TEXT_H
#define QUIPU_REPORT_SOURCE_TEXT_H

#include "data/profile.h"

struct source_text {
    const char *path;   /* where it was found; NULL: it was not found */
    const char **lines; /* line n is lines[n - 1], without its end */
    size_t count;
    const char *looked; /* the places that were searched, for a message */
};

/* Source files by index in profile.files. Each is read when it is first needed. */
struct sources {
    struct arena *arena;
    const struct profile *profile;
    char *const *directories; /* further directories to search */
    size_t directory_count;
    struct source_text **texts; /* by index; NULL: not needed yet */
};

struct sources sources_start(struct arena *arena, const struct profile *profile,
                             char *const *directories, size_t directory_count);

/* Returns the text of FILE, never NULL. If the file is not found, the text has no lines. quipu
 * searches for the path in the debug information, then below each directory for as many of its last
 * components as possible. */
const struct source_text *source_text(struct sources *sources, uint32_t file);

/* Returns line LINE of TEXT, or NULL if it has no such line. */
const char *source_line(const struct source_text *text, uint32_t line);

#endif
