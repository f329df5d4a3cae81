/* jobs.c: tasks in several processes; see jobs.h.
 *
 * A child has the writing end of a pipe, and never writes to it: its other end tells this process
 * when the child has ended. There may be other children, such as a pager, so this process waits for
 * nobody but its own. */
#include "cmd/jobs.h"

#include "cmd/trace_input.h"
#include "report/unfinished.h"
#include "util/diag.h"
#include "util/parent.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    AHEAD = 2,      /* tasks for each job that may be done before they are taken: files take room */
    JOBS_FAULT = 3, /* exit status of a child whose task has another status than 0 */
};

struct job {
    pid_t child; /* 0: it has ended */
    int end;     /* of the pipe */
    int output;
    int status;
};

struct jobs {
    const struct job_work *work;
    void *context;
    struct job *list; /* `room` of them; task number N has number N % room */
    size_t room;
    size_t taken, begun; /* tasks */
    unsigned running;
};

static int make_output(void) {
    char *path = make_temporary("quipu-job-");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        die("cannot make a temporary file: %s; set TMPDIR to a directory with room",
            strerror(errno));
    unlink(path);
    free(path);
    return fd;
}

static _Noreturn void run_child(const struct jobs *jobs, size_t task, int output, pid_t parent) {
    forget_unfinished();
    end_with_parent(parent, SIGKILL);
    FILE *out = fdopen(output, "w");
    if (!out)
        die("out of memory");
    int status = jobs->work->run(jobs->context, task, out);
    if (fflush(out) != 0 || ferror(out))
        die("cannot write a temporary file: %s; set TMPDIR to a directory with room, or leave out "
            "--jobs",
            strerror(errno));
    fflush(stderr);
    _exit(status ? JOBS_FAULT : 0);
}

static void begin_job(struct jobs *jobs) {
    size_t task = jobs->begun++;
    struct job *job = &jobs->list[task % jobs->room];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        die("cannot make a pipe: %s; use fewer --jobs", strerror(errno));
    *job = (struct job){.end = ends[0], .output = make_output()};
    fflush(NULL);
    pid_t parent = getpid();
    job->child = fork();
    if (job->child < 0)
        die("cannot make a process: %s; use fewer --jobs", strerror(errno));
    if (job->child == 0) {
        close(ends[0]);
        run_child(jobs, task, job->output, parent);
    }
    close(ends[1]);
    jobs->running++;
}

static void end_job(struct jobs *jobs, struct job *job) {
    int status = 0;
    while (waitpid(job->child, &status, 0) < 0 && errno == EINTR)
        ;
    job->child = 0;
    close(job->end);
    jobs->running--;
    if (WIFSIGNALED(status))
        die("a process of --jobs was ended by signal %d; use fewer of them", WTERMSIG(status));
    job->status = WEXITSTATUS(status);
    if (job->status != 0 && job->status != JOBS_FAULT)
        exit(job->status);
}

/* Waits until a task is done. */
static void wait_for_one(struct jobs *jobs) {
    struct pollfd *polled = calloc(jobs->room, sizeof *polled);
    if (!polled)
        die("out of memory");
    for (size_t i = 0; i < jobs->room; i++)
        polled[i] = (struct pollfd){.fd = jobs->list[i].child ? jobs->list[i].end : -1};
    while (poll(polled, jobs->room, -1) < 0 && errno == EINTR)
        ;
    for (size_t i = 0; i < jobs->room; i++)
        if (polled[i].fd >= 0 && polled[i].revents)
            end_job(jobs, &jobs->list[i]);
    free(polled);
}

/* Ends the tasks that nobody wants any more. */
static void stop_all(struct jobs *jobs) {
    for (size_t task = jobs->taken; task < jobs->begun; task++) {
        struct job *job = &jobs->list[task % jobs->room];
        if (job->child) {
            kill(job->child, SIGKILL);
            while (waitpid(job->child, NULL, 0) < 0 && errno == EINTR)
                ;
            close(job->end);
        }
        close(job->output);
    }
}

void run_jobs(unsigned count, size_t tasks, const struct job_work *work, void *context) {
    struct jobs jobs = {.work = work, .context = context, .room = AHEAD * (size_t)count};
    bool wanted = true;
    jobs.list = calloc(jobs.room, sizeof *jobs.list);
    if (!jobs.list)
        die("out of memory");
    keep_child_statuses();
    while (wanted && jobs.taken < tasks) {
        while (jobs.begun < tasks && jobs.running < count && jobs.begun < jobs.taken + jobs.room)
            begin_job(&jobs);
        CHECK(jobs.room);
        struct job *next = &jobs.list[jobs.taken % jobs.room];
        if (next->child) {
            wait_for_one(&jobs);
            continue;
        }
        lseek(next->output, 0, SEEK_SET);
        wanted = work->take(context, jobs.taken++, next->output, next->status);
        close(next->output);
    }
    stop_all(&jobs);
    free(jobs.list);
}

void copy_job_output(int fd, FILE *out) {
    static char bytes[1 << 16];
    ssize_t got;
    while ((got = read(fd, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0 && fwrite(bytes, 1, (size_t)got, out) != (size_t)got)
            return;
    if (got < 0)
        die("cannot read a temporary file: %s", strerror(errno));
}

unsigned read_jobs(const char *word) {
    unsigned jobs = (unsigned)read_number("jobs", word, JOBS_MOST);
    if (!jobs)
        die("'--jobs=%s': name the number of processes, from 1 to %d", word, JOBS_MOST);
    return jobs;
}
