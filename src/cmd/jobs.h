/* jobs.h: work that is divided between several processes (--jobs).
 *
 * Each task runs in a child, and writes into a file without a name. This process gets the files in
 * the order of the tasks. So the output does not depend on the number of jobs. */
#ifndef QUIPU_CMD_JOBS_H
#define QUIPU_CMD_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    JOBS_MOST = 1024
};

struct job_work {
    /* Does task number TASK, from 0, in a child. Returns its status, 0 if all is well. Errors of
     * OUT need not be looked for. If it ends the program, so does this process. */
    int (*run)(void *context, size_t task, FILE *out);
    /* Takes what the task has written, from the begin of FD, in this process. STATUS is what `run`
     * returned. Returns false if no further task is wanted. */
    bool (*take)(void *context, size_t task, int fd, int status);
};

/* Runs TASKS tasks, at most JOBS at a time. If one of them fails, ends the program with its status;
 * it has told why. */
void run_jobs(unsigned jobs, size_t tasks, const struct job_work *work, void *context);

/* Appends all that FD has, from its begin, to OUT. Errors of OUT stay in the stream. */
void copy_job_output(int fd, FILE *out);

/* Returns the number that is the value WORD of --jobs. Any other word ends the program with an
 * error. */
unsigned read_jobs(const char *word);

#endif
