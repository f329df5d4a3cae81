/* workers.c: threads that share out numbered pieces of work; see workers.h.
 *
 * A thread that is free takes the next number.  Who does which piece depends on the hour; how much
 * is done in all does not. */
#include "workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    work_function *work;
    void *context;
    size_t pieces;
    atomic_size_t next; /* the first piece that no one has taken */
};

static void *run_worker(void *argument) {
    struct job *job = argument;
    size_t piece;
    while ((piece = atomic_fetch_add(&job->next, 1)) < job->pieces)
        job->work(job->context, piece);
    return NULL;
}

void share_work(unsigned threads, size_t pieces, work_function *work, void *context) {
    struct job job = {.work = work, .context = context, .pieces = pieces};
    pthread_t workers[WORKERS_MAX];
    for (unsigned i = 0; i < threads; i++) {
        int error = pthread_create(&workers[i], NULL, run_worker, &job);
        if (error) {
            fprintf(stderr, "concord: cannot start a thread: %s\n", strerror(error));
            exit(1);
        }
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(workers[i], NULL);
}
