/* progress.h: a line on a terminal that tells of a command which takes long. */
#ifndef QUIPU_DEBUG_PROGRESS_H
#define QUIPU_DEBUG_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    double begun; /* clock_seconds of the command's begin; 0: none has begun */
    double told;  /* clock_seconds of the last line; 0: none */
};

/* A command begins. */
void progress_begin(struct progress *progress);

/* Tells of it, if it is time: it stands behind EVENTS events. */
void progress_tell(struct progress *progress, uint64_t events);

/* It has ended: the line goes. */
void progress_end(struct progress *progress);

#endif
