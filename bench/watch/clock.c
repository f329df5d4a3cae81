/* clock.c: goes in front of a program by LD_PRELOAD, and takes the processor time from where the
 * program begins to where it ends; bench/harness/armed.py.
 *
 *     BENCH_CLOCK=FILE [BENCH_REGIONS="COUNT PLACE"] LD_PRELOAD=... PROGRAM
 *
 * Appends a line to FILE: process, seconds, hits.  Regions are made before the time begins
 * (regions.c), and what they take to go is behind its end.  The twin has none, but where there are
 * many the same variables were read in it: each fork copies what maps them.  What the program
 * starts has no clock of its own; it counts where the program waits for it. */
#include "regions.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char *path;
static pid_t process;
static double begin;

static double processor_time(void) {
    struct timespec own;
    struct rusage children;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) || getrusage(RUSAGE_CHILDREN, &children))
        return 0;
    return (double)own.tv_sec + (double)own.tv_nsec / 1e9 +
           (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
           (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) / 1e6;
}

static void fail(const char *what) {
    fprintf(stderr, "clock: error: %s\n", what);
    _exit(127);
}

__attribute__((constructor)) static void start(void) {
    char place[16] = "";
    unsigned long count = 0;
    const char *regions = getenv("BENCH_REGIONS");
    path = getenv("BENCH_CLOCK");
    if (!path)
        return;
    if (regions && sscanf(regions, "%lu %15s", &count, place) != 2)
        fail("BENCH_REGIONS is not 'COUNT PLACE'");
    if (count && !make_regions(count, place))
        fail("a region was refused");
    unsetenv("LD_PRELOAD");
    process = getpid();
    begin = processor_time();
}

__attribute__((destructor)) static void stop(void) {
    double seconds = processor_time() - begin;
    char line[96];
    if (!path || getpid() != process)
        return;
    int length =
        snprintf(line, sizeof line, "%ld %.9f %lu\n", (long)process, seconds, count_hits());
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 || write(file, line, (size_t)length) != length || close(file))
        fail("BENCH_CLOCK cannot be written");
}
