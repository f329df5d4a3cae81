/* workers.h: threads that share out numbered pieces of work. */
#ifndef CONCORD_WORKERS_H
#define CONCORD_WORKERS_H

#include <stddef.h>

enum {
    WORKERS_MAX = 64
};

/* Does piece number PIECE.  Pieces run in any order and at the same time. */
typedef void work_function(void *context, size_t piece);

/* Runs WORK for all pieces below PIECES in THREADS threads (1 to WORKERS_MAX), and returns when all
 * are done. */
void share_work(unsigned threads, size_t pieces, work_function *work, void *context);

#endif
