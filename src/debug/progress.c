/* progress.c: a line on a terminal that tells of a command which takes long; see progress.h. */
#include "debug/progress.h"

#include "util/clock.h"

#include <stdio.h>
#include <unistd.h>

/* In seconds. */
static const double first = 1, interval = 0.25;

#define ERASE_LINE "\r\033[K"

void progress_begin(struct progress *progress) {
    *progress = (struct progress){.begun = isatty(STDERR_FILENO) ? clock_seconds() : 0};
}

void progress_tell(struct progress *progress, uint64_t events) {
    double now = clock_seconds();
    if (!progress->begun || now - progress->begun < first || now - progress->told < interval)
        return;
    progress->told = now;
    fprintf(stderr, ERASE_LINE "quipu: %.0f s, at event %llu; Ctrl-C stops it",
            now - progress->begun, (unsigned long long)events);
    fflush(stderr);
}

void progress_end(struct progress *progress) {
    if (progress->told) {
        fputs(ERASE_LINE, stderr);
        fflush(stderr);
    }
    *progress = (struct progress){0};
}
