/* tasks.c: many tasks of one kind, on all processors; see tasks.h.
 *
 * The calling thread is a worker, too, and reports the progress of all. If the system allows no
 * more threads, there are fewer workers. */
#include "data/tasks.h"

#include "data/profile.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

void (*profile_progress)(const char *what, size_t done, size_t total);

enum {
    WORKERS_MAX = 64,
    TASKS_FOR_WORKER = 4, /* fewer are not worth a thread */
    STACK_SIZE = 1 << 20,
};

struct team {
    const struct tasks *tasks;
    _Atomic size_t next, done;
    _Atomic size_t failed; /* tasks.count: none */
    pthread_mutex_t lock;  /* for `failed` and `cause` together */
    const char *cause;
};

struct worker {
    struct team *team;
    size_t number;
    pthread_t thread;
};

/* True in all workers but the first: they do not report the progress of what a task reads. */
static _Thread_local bool is_silent;

static size_t count_for(size_t count, size_t least) {
    cpu_set_t set;
    size_t workers = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        workers = (size_t)CPU_COUNT(&set);
    if (workers > WORKERS_MAX)
        workers = WORKERS_MAX;
    if (workers > count / least)
        workers = count / least;
    return workers ? workers : 1;
}

size_t count_workers(size_t count) {
    return count_for(count, TASKS_FOR_WORKER);
}

void report_progress(const char *what, size_t done, size_t total) {
    if (profile_progress && what && !is_silent)
        profile_progress(what, done, total);
}

static void fail(struct team *team, size_t number, const char *cause) {
    pthread_mutex_lock(&team->lock);
    if (number < team->failed) {
        team->failed = number;
        team->cause = cause;
    }
    pthread_mutex_unlock(&team->lock);
}

static void work(const struct worker *worker) {
    struct team *team = worker->team;
    const struct tasks *tasks = team->tasks;
    size_t number;
    while (team->failed == tasks->count && (number = team->next++) < tasks->count) {
        const char *cause = tasks->run(tasks->context, worker->number, number);
        if (cause)
            fail(team, number, cause);
        size_t done = ++team->done;
        if (worker->number == 0 && done < tasks->count)
            report_progress(tasks->what, done, tasks->count);
    }
}

static void *begin_work(void *worker) {
    is_silent = true;
    work(worker);
    return NULL;
}

const char *do_tasks(const struct tasks *tasks, size_t *failed) {
    struct team team = {.tasks = tasks, .failed = tasks->count, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct worker workers[WORKERS_MAX] = {{.team = &team}};
    size_t wanted = count_for(tasks->count, tasks->few ? 1 : TASKS_FOR_WORKER), count = 1;
    pthread_attr_t attributes;
    if (tasks->count)
        report_progress(tasks->what, 0, tasks->count);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    while (count < wanted) {
        struct worker *worker = &workers[count];
        *worker = (struct worker){.team = &team, .number = count};
        if (pthread_create(&worker->thread, &attributes, begin_work, worker) != 0)
            break;
        count++;
    }
    pthread_attr_destroy(&attributes);
    work(workers);
    for (size_t i = 1; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    if (tasks->count)
        report_progress(tasks->what, tasks->count, tasks->count);
    *failed = team.failed;
    return team.cause;
}
