/* progress.c: a bar on standard error while a profile is read; see progress.h. */
#include "report/progress.h"

#include "data/profile.h"
#include "util/clock.h"

#include <stdio.h>
#include <unistd.h>

static void draw(size_t done, size_t total) {
    enum {
        WIDTH = 40
    };
    static double start, last;
    static bool drawn;
    double now = clock_seconds();
    if (done == 0)
        start = last = now;
    if (done == total) {
        if (drawn)
            fputs("\r\033[K", stderr);
        return;
    }
    if (now - start < 0.5 || now - last < 0.1)
        return;
    char bar[WIDTH + 1];
    size_t full = done * WIDTH / total;
    for (size_t i = 0; i < WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\rreading [%s] %zu of %zu", bar, done, total);
    fflush(stderr);
    last = now;
    drawn = true;
}

void show_progress(void) {
    if (isatty(STDERR_FILENO))
        profile_progress = draw;
}
