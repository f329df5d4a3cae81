/* temporary_data.c: a temporary data directory; see temporary_data.h.
 *
 * It is also removed when a signal ends the program. The signal handler may only call the kernel,
 * so it reads the directory by getdents64. The directory contains only files. */
#include "cmd/temporary_data.h"

#include "util/diag.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *directory;

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static void remove_directory(void) {
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The form in which getdents64 writes an entry. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short size;
    unsigned char kind;
    char name[];
};

static void end_by_signal(int signal) {
    alignas(struct entry) char bytes[4096];
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long size;
    while (fd >= 0 && (size = syscall(SYS_getdents64, fd, bytes, sizeof bytes)) > 0)
        for (long at = 0; at < size; at += ((struct entry *)(bytes + at))->size)
            unlinkat(fd, ((struct entry *)(bytes + at))->name, 0);
    rmdir(directory);
    raise(signal); /* delivered after the handler, which is not set any more */
}

static void remove_at_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction ending = {.sa_handler = end_by_signal, .sa_flags = (int)SA_RESETHAND}, before;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &ending, NULL);
}

char *use_temporary_data(const char *prefix) {
    directory = make_temporary_directory(prefix);
    if (!directory)
        die("cannot make a temporary directory: %s; choose where by TMPDIR", strerror(errno));
    atexit(remove_directory); /* also runs when an error ends the program */
    remove_at_signals();
    if (setenv("QUIPU_DATA", directory, 1))
        die("cannot set QUIPU_DATA: %s", strerror(errno));
    return directory;
}
