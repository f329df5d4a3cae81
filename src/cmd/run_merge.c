/* run_merge.c: quipu run --merge: adds up the data files of processes as they end; see run_merge.h.
 *
 * A test suite may run thousands of processes, with a file each. Here a file lives as long as its
 * process, and then only its counts.
 *
 * Whether a process still uses its file is asked of the kernel. It grants a write lease only if
 * nobody else has the file open, or mapped, for writing. So a process of another namespace, whose
 * number means nothing here, is safe. File systems without leases keep their files. Older kernels
 * do not see mappings through overlayfs; so the process in the file's header must not map it
 * either.
 *
 * A child adds up the files, since an error ends it. If it cannot add up all files, each is tried
 * alone, and one that cannot be added, for example of another build, stays what it is.
 *
 * Invariant: a file is removed only behind the new sum, with signals blocked. Not perfect: if quipu
 * is killed by SIGKILL between both, these few files are counted twice. */
#include "cmd/run_merge.h"

#include "cmd/child.h"
#include "cmd/merge.h"
#include "data/sources.h"
#include "format/data_file.h"
#include "util/arena.h"
#include "util/diag.h"
#include "util/memory_map.h"
#include "util/path.h"
#include "util/process.h"
#include "util/vector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FILES_MOST = 64,  /* are added up at once */
    FILES_FEW = 8,    /* fewer wait for more, while the program runs */
    PAUSE = 200000000 /* nanoseconds between two looks at the directory */
};

typedef VECTOR(char *) path_vector;

struct merging {
    struct arena arena;
    const char *directory;
    char *sum;        /* path of the file that grows */
    path_vector left; /* files that are not added: of earlier runs, or of other builds */
};

/* ---- finished files ---- */

static bool is_left(const struct merging *merging, const char *path) {
    for (size_t i = 0; i < merging->left.count; i++)
        if (strcmp(merging->left.data[i], path) == 0)
            return true;
    return strcmp(path, merging->sum) == 0;
}

/* Whether a line of the process's mappings ends with the name of the file at PATH. The process may
 * have ended, or be another one with its number. */
static bool is_mapped_by(uint32_t process, const char *path) {
    struct memory_map map;
    struct memory_mapping mapping;
    if (!memory_map_open(&map, (pid_t)process))
        return errno != ENOENT && errno != ESRCH;
    bool mapped = false;
    while (!mapped && memory_map_next(&map, &mapping))
        mapped = ends_in(mapping.path, last_part(path));
    memory_map_close(&map);
    return mapped;
}

/* Whether no process has the file open or mapped for writing. */
static bool is_finished(const char *path) {
    struct quipu_file header;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool finished = fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
    if (finished)
        fcntl(fd, F_SETLEASE, F_UNLCK);
    finished = finished && pread(fd, &header, sizeof header, 0) == sizeof header &&
               !is_mapped_by(header.pid, path);
    close(fd);
    return finished;
}

/* Returns, in ARENA, the data files of the directory that are not left: all of them, or the first
 * finished ones. */
static path_vector list_files(struct arena *arena, const struct merging *merging, bool all) {
    path_vector paths = {0};
    DIR *directory = opendir(merging->directory);
    if (!directory)
        return paths;
    for (const struct dirent *entry;
         (entry = readdir(directory)) && (all || paths.count < FILES_MOST);) {
        if (!is_data_name(entry->d_name))
            continue;
        char *path = arena_print(arena, "%s/%s", merging->directory, entry->d_name);
        if (!is_left(merging, path) && (all || is_finished(path)))
            vector_push(arena, &paths, path);
    }
    closedir(directory);
    return paths;
}

/* ---- adding up ---- */

/* Adds PATHS to the sum in a child, and removes them. QUIET: without messages. Returns whether this
 * was done. */
static bool add_files(const struct merging *merging, char *const *paths, size_t count, bool quiet) {
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return false;
    if (child == 0) {
        char *all[FILES_MOST + 1];
        size_t known = access(merging->sum, F_OK) == 0;
        int nowhere = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
        if (nowhere >= 0)
            dup2(nowhere, STDERR_FILENO);
        all[0] = merging->sum;
        memcpy(&all[known], paths, count * sizeof *paths);
        merge_files(all, count + known, merging->sum);
        for (size_t i = 0; i < count; i++)
            unlink(paths[i]);
        _exit(0);
    }
    int status = 1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0;
}

/* Adds up what is finished. Fewer than FEW files wait. */
static void add_finished(struct merging *merging, size_t few) {
    struct arena arena = {0}; /* not that of the whole run, in which this is done all the time */
    path_vector paths = list_files(&arena, merging, false);
    while (paths.count && paths.count >= few) {
        bool added = add_files(merging, paths.data, paths.count, true);
        for (size_t i = 0; !added && i < paths.count; i++)
            if (!add_files(merging, &paths.data[i], 1, false))
                vector_push(&merging->arena, &merging->left,
                            arena_copy(&merging->arena, paths.data[i], strlen(paths.data[i])));
        paths = list_files(&arena, merging, false);
    }
    arena_release(&arena);
}

/* ---- the program ---- */

/* Waits until the program has ended, and meanwhile adds up what has. Signals for quipu alone are
 * passed on; those of the terminal the program gets itself. Returns its status. */
static int wait_for(struct merging *merging, pid_t program, const sigset_t *signals) {
    int status = 0;
    for (;;) {
        siginfo_t info;
        int number = sigtimedwait(signals, &info, &(struct timespec){.tv_nsec = PAUSE});
        if (number > 0 && number != SIGCHLD && info.si_code <= 0)
            kill(program, number);
        pid_t ended = waitpid(program, &status, WNOHANG);
        if (ended == program || (ended < 0 && errno != EINTR))
            return status;
        if (number < 0)
            add_finished(merging, FILES_FEW);
    }
}

int run_merging(const char *directory, char *const *argv) {
    struct merging merging = {.directory = directory};
    sigset_t signals, old;
    merging.sum = arena_print(&merging.arena, "%s/merged.quipu", directory);
    merging.left = list_files(&merging.arena, &merging, true);
    sigemptyset(&signals);
    for (const int *number =
             (const int[]){SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGIO, 0};
         *number; number++)
        sigaddset(&signals, *number);
    sigprocmask(SIG_BLOCK, &signals, &old);
    pid_t program = child_begin(argv, &old);
    int status = wait_for(&merging, program, &signals);
    add_finished(&merging, 1);
    arena_release(&merging.arena);
    return child_end(status, &old);
}
