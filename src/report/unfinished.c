/* unfinished.c: files that get their names only when they are complete; see unfinished.h.
 *
 * The list is read by a signal handler. So an entry is complete before it is counted, and a signal
 * waits from before a file is made until its entry is counted. */
#include "report/unfinished.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MAX = 4 /* are written at the same time */
};

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum {
    SIGNALS = sizeof ending_signals / sizeof *ending_signals
};

static struct unfinished_file { char path[PATH_MAX], temporary[PATH_MAX]; } files[FILES_MAX];
static volatile sig_atomic_t file_count;

static void remove_all(void) {
    for (int i = file_count; i > 0; i--)
        unlink(files[i - 1].temporary);
    file_count = 0;
}

void forget_unfinished(void) {
    file_count = 0;
}

static void remove_at_signal(int number) {
    remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

/* A signal that is ignored, as in a background job, stays ignored. */
static void handle_signals(void) {
    static bool done;
    if (done)
        return;
    done = true;
    atexit(remove_all);
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction action;
        if (sigaction(ending_signals[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            signal(ending_signals[i], remove_at_signal);
    }
}

/* Lets no signal end quipu until the signals in EARLIER are blocked again and no others. */
static void hold_signals(sigset_t *earlier) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaddset(&set, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &set, earlier);
}

/* Makes the empty file, with the rights that PATH has or would get. */
static bool make_temporary_file(char *temporary, const char *path) {
    struct stat status;
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = stat(path, &status) == 0 ? status.st_mode & 0777 : 0666 & ~mask;
    int fd = mkstemp(temporary);
    if (fd < 0)
        return false;
    bool good = fchmod(fd, mode) == 0;
    close(fd);
    if (!good)
        unlink(temporary);
    return good;
}

/* Makes FILE, the next of the list, for PATH. Returns false if its directory takes no other file.
 */
static bool add_file(struct unfinished_file *file, const char *path) {
    sigset_t earlier;
    hold_signals(&earlier);
    bool good = make_temporary_file(file->temporary, path);
    if (good)
        file_count++;
    sigprocmask(SIG_SETMASK, &earlier, NULL);
    return good;
}

const char *begin_unfinished(const char *path) {
    struct stat status;
    struct unfinished_file *file = &files[file_count];
    bool exists = lstat(path, &status) == 0;
    bool is_plain = !exists || (S_ISREG(status.st_mode) && status.st_nlink == 1 &&
                                status.st_uid == geteuid() && access(path, W_OK) == 0);
    if (!is_plain || file_count == FILES_MAX || strlen(path) >= sizeof file->path)
        return path;
    int length = snprintf(file->temporary, sizeof file->temporary, "%s.XXXXXX", path);
    if (length >= (int)sizeof file->temporary)
        return path;
    memcpy(file->path, path, strlen(path) + 1);
    handle_signals();
    return add_file(file, path) ? file->temporary : path;
}

bool end_unfinished(const char *path, bool complete) {
    int last = file_count - 1;
    if (last < 0 || strcmp(files[last].path, path) != 0)
        return true;
    bool good = !complete || rename(files[last].temporary, path) == 0;
    int cause = errno;
    if (!complete || !good)
        unlink(files[last].temporary);
    file_count = last;
    errno = cause;
    return good;
}
