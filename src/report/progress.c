/* progress.c: a bar on standard error while a profile is read; see progress.h. */
#include "report/progress.h"

#include "data/profile.h"
#include "report/style.h"
#include "util/clock.h"

#include <stdio.h>

static double start; /* of the command */

static void draw(const char *what, size_t done, size_t total) {
    enum {
        WIDTH = 40
    };
    static double last; /* when something was drawn */
    static bool drawn;
    double now = clock_seconds();
    if (done == total) {
        if (drawn)
            fputs("\r\033[K", stderr);
        drawn = false;
        return;
    }
    if (now - start < 0.5 || now - last < 0.1)
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

void show_progress(void) {
    if (!is_smart_terminal(stderr))
        return;
    start = clock_seconds();
    profile_progress = draw;
}
