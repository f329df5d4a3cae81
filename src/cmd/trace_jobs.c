/* trace_jobs.c: a trace that is written by several processes; see trace_jobs.h.
 *
 * There are more parts than processes, so that little waits in files until it is its turn. */
#include "cmd/trace_jobs.h"

#include "cmd/jobs.h"
#include "cmd/trace_input.h"

enum {
    TASK_CHUNKS = 16 /* in a part; only every eighth chunk can be the first one */
};

struct task {
    const struct traced_thread *thread;
    uint32_t part, parts;
};

struct writing {
    struct trace *trace;
    FILE *out;
    write_trace_task *write;
    void *context;
    VECTOR(struct task) tasks;
    const struct traced_thread *broken; /* its other parts are left out */
    int status;
};

/* Cuts THREAD into tasks. Parts that would be empty are left out. What is found out here of where
 * parts may begin, all children know. */
static void add_tasks(struct arena *arena, struct writing *writing,
                      const struct traced_thread *thread) {
    uint32_t parts = (uint32_t)((thread->chunks.count + TASK_CHUNKS - 1) / TASK_CHUNKS);
    for (uint32_t part = 0; part < parts; part++) {
        struct chunk_range range = trace_part(writing->trace, thread, part, parts);
        if (part == 0 || range.first < range.end)
            vector_push(arena, &writing->tasks, ((struct task){thread, part, parts}));
    }
}

static int run_task(void *context, size_t number, FILE *out) {
    struct writing *writing = context;
    const struct task *task = vector_at(&writing->tasks, number);
    struct trace_task work = {.trace = writing->trace,
                              .thread = task->thread,
                              .begins_output = number == 0,
                              .begins_thread = task->part == 0};
    writing->trace->part = task->part;
    writing->trace->parts = task->parts;
    const char *fault = writing->write(writing->context, &work, out);
    if (fault)
        report_trace_fault(writing->trace, task->thread, fault);
    return fault != NULL;
}

static bool take_task(void *context, size_t number, int fd, int status) {
    struct writing *writing = context;
    const struct task *task = vector_at(&writing->tasks, number);
    if (task->thread == writing->broken)
        return true;
    copy_job_output(fd, writing->out);
    if (status) {
        writing->broken = task->thread;
        writing->status = 1;
    }
    return !ferror(writing->out);
}

int write_by_jobs(unsigned jobs, struct trace *trace, const struct traced_thread **threads,
                  FILE *out, write_trace_task *write, void *context) {
    static const struct job_work work = {run_task, take_task};
    struct writing writing = {.trace = trace, .out = out, .write = write, .context = context};
    struct arena arena = {0};
    for (; *threads; threads++)
        add_tasks(&arena, &writing, *threads);
    run_jobs(jobs, writing.tasks.count, &work, &writing);
    arena_release(&arena);
    return writing.status;
}
