/* tasks.h: many tasks of one kind, on all processors. */
#ifndef QUIPU_DATA_TASKS_H
#define QUIPU_DATA_TASKS_H

#include <stdbool.h>
#include <stddef.h>

struct tasks {
    const char *what; /* is read, for report_progress */
    size_t count;
    bool few; /* each is worth a worker */
    /* Does task NUMBER as WORKER, which does one task at a time.  Returns NULL, or what is wrong.
     */
    const char *(*run)(void *context, size_t worker, size_t number);
    void *context;
};

/* How many workers COUNT tasks are done by: their numbers are below. */
size_t count_workers(size_t count);

/* Begins all tasks, in the order of their numbers, and returns when all have ended.  Where some
 * failed, begins no more, and sets FAILED to the first and returns what is wrong with it; else
 * NULL. */
const char *do_tasks(const struct tasks *tasks, size_t *failed);

#endif
