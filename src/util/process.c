/* process.c: runs programs, and looks at other processes; see process.h. */
#include "util/process.h"

#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns a file in memory that contains INPUT, or -1. With a file, unlike a pipe, neither process
 * waits for the other. */
static int memory_file(const void *input, size_t size) {
    int fd = memfd_create("quipu", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (!write_whole(fd, input, size) || lseek(fd, 0, SEEK_SET) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool ignored_children;

void keep_child_statuses(void) {
    ignored_children = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

void restore_child_statuses(void) {
    if (ignored_children)
        signal(SIGCHLD, SIG_IGN);
}

/* HEARD is the file for standard error; -1: QUIET decides. Returns as run_program does. */
static int start_and_wait(char *const *argv, int in, int heard, bool quiet) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    if (quiet)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (heard >= 0)
        posix_spawn_file_actions_adddup2(&actions, heard, STDERR_FILENO);
    else if (quiet)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    extern char **environ;
    int failure = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure) {
        error("cannot run '%s': %s", argv[0], strerror(failure));
        return 127;
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) {
            error("cannot wait for '%s': %s", argv[0], strerror(errno));
            return 127;
        }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_with(char *const *argv, const void *input, size_t input_size, int heard,
                    bool quiet) {
    int in = -1;
    if (input && (in = memory_file(input, input_size)) < 0) {
        error("cannot hand %zu bytes to '%s': %s", input_size, argv[0], strerror(errno));
        return 127;
    }
    int status = start_and_wait(argv, in, heard, quiet);
    if (in >= 0)
        close(in);
    return status;
}

int run_program(char *const *argv, const void *input, size_t input_size, bool quiet) {
    return run_with(argv, input, input_size, -1, quiet);
}

int run_program_heard(char *const *argv, const void *input, size_t input_size, bool quiet,
                      struct buffer *messages) {
    int heard = memory_file("", 0);
    int status = run_with(argv, input, input_size, heard, quiet);
    if (heard >= 0) {
        if (lseek(heard, 0, SEEK_SET) == 0)
            buffer_read(messages, heard);
        close(heard);
    }
    return status;
}

/* Returns the letter of proc(5), or 0 if there is no such thread. */
static char thread_state(pid_t process, pid_t thread) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)process, (int)thread);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    const char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return end ? end[2] : 0;
}

int execute_program(char *const *argv) {
    enum {
        STATUS_CANNOT_RUN = 126,
        STATUS_NOT_FOUND = 127
    };
    restore_child_statuses();
    execvp(argv[0], argv);
    if (errno == ENOENT) {
        error("'%s': no such program", argv[0]);
        return STATUS_NOT_FOUND;
    }
    error("cannot run '%s': %s", argv[0], strerror(errno));
    return STATUS_CANNOT_RUN;
}

bool has_ended(pid_t process, pid_t thread) {
    char state = thread_state(process, thread);
    return !state || strchr("ZXx", state);
}

bool is_asleep(pid_t process, pid_t thread) {
    return thread_state(process, thread) == 'S';
}

static const char *temporary_parent(void) {
    const char *directory = getenv("TMPDIR");
    return directory && *directory ? directory : "/tmp";
}

char *make_temporary(const char *prefix) {
    return make_temporary_in(temporary_parent(), prefix);
}

char *make_temporary_directory(const char *prefix) {
    struct buffer path = {0};
    buffer_print(&path, "%s/%sXXXXXX", temporary_parent(), prefix);
    if (mkdtemp(path.data))
        return path.data;
    buffer_release(&path);
    return NULL;
}

char *make_temporary_in(const char *directory, const char *prefix) {
    struct buffer path = {0};
    buffer_print(&path, "%s/%sXXXXXX", directory, prefix);
    int fd = mkostemp(path.data, O_CLOEXEC);
    if (fd < 0) {
        buffer_release(&path);
        return NULL;
    }
    close(fd);
    return path.data;
}
