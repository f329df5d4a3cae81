/* progress.c: shows the progress of reading on standard error; see progress.h. */
#include "report/progress.h"

#include "data/profile.h"
#include "report/style.h"
#include "util/clock.h"

#include <stdio.h>

static double start; /* start of the command */
static double last;  /* time of the last output; 0: none yet */

static void draw(const char *what, size_t done, size_t total) {
    enum {
        WIDTH = 40
    };
    static bool drawn;
    double now = clock_seconds();
    if (done == total) {
        if (drawn)
            fputs("\r\033[K", stderr);
        drawn = false;
        return;
    }
    if (now - start < 1 || now - last < 0.1)
        return;
    char bar[WIDTH + 1];
    size_t full = done * WIDTH / total;
    for (size_t i = 0; i < WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\rreading %s [%s] %zu%%\033[K", what, bar, done * 100 / total);
    fflush(stderr);
    last = now;
    drawn = true;
}

/* Prints a line from time to time, for logs. */
static void print(const char *what, size_t done, size_t total) {
    double now = clock_seconds();
    if (done == total || now - start < 3 || (last > 0 && now - last < 10))
        return;
    fprintf(stderr, "quipu: reading %s: %zu of %zu\n", what, done, total);
    last = now;
}

void show_progress(void) {
    start = clock_seconds();
    profile_progress = is_smart_terminal(stderr) ? draw : print;
}
