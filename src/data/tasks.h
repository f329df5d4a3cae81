/* tasks.h: many tasks of one kind, on all processors. */
#ifndef QUIPU_DATA_TASKS_H
#define QUIPU_DATA_TASKS_H

#include <stdbool.h>
#include <stddef.h>

struct tasks {
    const char *what; /* what is read, for report_progress; NULL: tasks report it themselves */
    size_t count;
    bool few; /* each task is worth a worker */
    /* Does task NUMBER as WORKER. A worker does one task at a time. Returns NULL, or an error
     * message. */
    const char *(*run)(void *context, size_t worker, size_t number);
    void *context;
};

/* Returns the number of workers for COUNT tasks. Their numbers are below it. */
size_t count_workers(size_t count);

/* Begins all tasks, in the order of their numbers, and returns NULL when all have ended. If one
 * fails, begins no more. Then sets FAILED to the first that failed, and returns its error
 * message. */
const char *do_tasks(const struct tasks *tasks, size_t *failed);

#endif
