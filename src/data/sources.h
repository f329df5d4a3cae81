/* sources.h: the data files that a command reads: named, or found in directories that are named. */
#ifndef QUIPU_DATA_SOURCES_H
#define QUIPU_DATA_SOURCES_H

#include "data/datafile.h"

struct data_source {
    struct data_file file;
    const char *directory; /* that it was found in; NULL: it was named itself */
    const char *wrong;     /* why it is left out; NULL: it is not */
    bool stale;            /* it can be read, but its binary is gone or of another build */
};

struct data_sources {
    struct arena arena;   /* of the list */
    struct arena *arenas; /* one for each worker; owned */
    size_t arena_count;
    struct data_source *list; /* as named, those of a directory by name */
    size_t count;
};

/* Reads the data files in PATHS: each a data file or a directory of them; none: $QUIPU_DATA or
 * "quipu.data".  Ends the program with an error where a file that was named itself cannot be read,
 * or a directory holds none; others that cannot be read are marked so. */
void sources_read(struct data_sources *sources, char *const *paths, size_t path_count);

/* Ends the program with an error where a file is marked that was named itself, or all are; else
 * warns of those that are: ALWAYS, or once for each directory and set of files, whichever commands
 * read it. */
void sources_check(const struct data_sources *sources, bool always);

void sources_release(struct data_sources *sources);

#endif
