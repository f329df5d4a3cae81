/* timed.c: runs a compiler and writes down the processor time that it and its children took.
 *
 *     BENCH_LOG=FILE timed COMPILER ARGS...
 *
 * Appends one line, the seconds of user and system time, to FILE.  Without BENCH_LOG it becomes the
 * compiler.  Standing in front of every compiler call of a build, it leaves make, shells and
 * libtool out of the sum. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "timed: error: '%s': %s\n", what, strerror(errno));
    exit(127);
}

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* One write to a file opened for appending: calls of a parallel make do not mix. */
static void append(const char *path, double time) {
    char line[64];
    int length = snprintf(line, sizeof line, "%.6f\n", time);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 || write(file, line, (size_t)length) != length || close(file))
        fail(path);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fputs("usage: timed COMPILER ARGS\n", stderr);
        return 127;
    }
    const char *log = getenv("BENCH_LOG");
    pid_t child = log ? fork() : 0;
    if (child < 0)
        fail("fork");
    if (child == 0) {
        execvp(argv[1], argv + 1);
        fail(argv[1]);
    }
    int status;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR)
            fail("wait4");
    append(log, seconds(usage.ru_utime) + seconds(usage.ru_stime));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
