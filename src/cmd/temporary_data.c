/* temporary_data.c: a data directory for the time being; see temporary_data.h. */
#include "cmd/temporary_data.h"

#include "util/diag.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char directory[4096];

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static void remove_directory(void) {
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

char *use_temporary_data(const char *prefix) {
    const char *parent = getenv("TMPDIR");
    int length = snprintf(directory, sizeof directory, "%s/%s-XXXXXX",
                          parent && *parent ? parent : "/tmp", prefix);
    if (length >= (int)sizeof directory || !mkdtemp(directory))
        die("cannot make '%s': %s; choose another directory by TMPDIR", directory, strerror(errno));
    atexit(remove_directory); /* errors end the program, too */
    if (setenv("QUIPU_DATA", directory, 1))
        die("cannot set QUIPU_DATA: %s", strerror(errno));
    return directory;
}
