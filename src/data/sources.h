/* sources.h: the data files that a command reads: files that are named, or are in named
 * directories. */
#ifndef QUIPU_DATA_SOURCES_H
#define QUIPU_DATA_SOURCES_H

#include "data/datafile.h"

struct data_source {
    struct data_file file;
    const char *directory; /* that contains it; NULL: the file itself was named */
    const char *wrong;     /* why it is left out; NULL: it is used */
    const char *partly;    /* why the counts of some of its modules are left out; NULL: none are */
    bool stale;            /* it can be read, but its binary is gone or of another build */
};

struct data_sources {
    struct arena arena;   /* of the list */
    struct arena *arenas; /* one for each worker; owned */
    size_t arena_count;
    struct data_source *list; /* in the order of the names; those of a directory sorted by name */
    size_t count;
};

/* Returns the data directory if none is named: $QUIPU_DATA or "quipu.data". "none" in QUIPU_DATA
 * says that programs leave no data; it is no directory. */
const char *default_data(void);

/* Whether a file with the NAME, without its directory, is a data file. */
bool is_data_name(const char *name);

/* Reads the data files in PATHS. Each path is a data file or a directory of them. If there are
 * none, reads $QUIPU_DATA or "quipu.data". Ends the program with an error if a named file cannot be
 * read, or a directory has no data file. Marks other files that cannot be read. */
void sources_read(struct data_sources *sources, char *const *paths, size_t path_count);

/* Ends the program with an error if a marked file was named itself, or if all are marked. Otherwise
 * warns about marked files, and those that are used in part: ALWAYS, or once for each directory and
 * set of files, whichever commands read it. */
void sources_check(const struct data_sources *sources, bool always);

void sources_release(struct data_sources *sources);

#endif
