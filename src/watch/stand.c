/* stand.c: a process that stands where one of its threads has written; see stand.h. */
#include "watch/stand.h"

#include "util/clock.h"

#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum {
    PATIENCE = 2,     /* seconds; the program may have blocked the signal */
    NAP = 100 * 1000, /* nanoseconds between looks */
    EVENT_SHIFT = 16, /* in a status */
};

bool hold_thread(pid_t thread) {
    return ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0;
}

/* Waits until the held THREAD has a new STATUS, or END has come.  Returns whether it has one. */
static bool wait_until(double end, pid_t thread, int *status) {
    const struct timespec nap = {0, NAP};
    pid_t got;
    while ((got = waitpid(thread, status, __WALL | WNOHANG)) == 0 && clock_seconds() < end)
        nanosleep(&nap, NULL);
    return got == thread;
}

/* Goes on from a stop that is not the one that is waited for. */
static void go_on(pid_t thread, int status) {
    bool is_event = status >> EVENT_SHIFT;
    if (is_event && WSTOPSIG(status) != SIGTRAP)
        ptrace(PTRACE_LISTEN, thread, NULL, NULL); /* the process is stopped by a signal */
    else
        ptrace(PTRACE_CONT, thread, NULL, is_event ? 0L : (long)WSTOPSIG(status));
}

static enum standing let_go(pid_t thread, int *status) {
    if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0 ||
        waitpid(thread, status, __WALL) != thread)
        return THREAD_RUNS; /* it is not there any more, or was killed */
    if (!WIFSTOPPED(*status))
        return THREAD_ENDED;
    long signal = *status >> EVENT_SHIFT ? 0 : WSTOPSIG(*status);
    ptrace(PTRACE_DETACH, thread, NULL, signal);
    return THREAD_RUNS;
}

/* Runs the held THREAD up to the stop of that kind. */
static enum standing run_to_stop(pid_t thread, int signal, bool is_event, int *status) {
    double end = clock_seconds() + PATIENCE;
    while (wait_until(end, thread, status)) {
        if (!WIFSTOPPED(*status))
            return THREAD_ENDED;
        if (WSTOPSIG(*status) == signal && (*status >> EVENT_SHIFT != 0) == is_event)
            return THREAD_STANDS;
        go_on(thread, *status);
    }
    return let_go(thread, status);
}

enum standing stand_at_trap(pid_t process, pid_t thread, int *status) {
    uint64_t mask, all = ~(uint64_t)0;
    enum standing standing = run_to_stop(thread, SIGTRAP, false, status);
    if (standing != THREAD_STANDS)
        return standing;
    /* Stops before it does anything else: other signals wait until it runs on. */
    ptrace(PTRACE_GETSIGMASK, thread, sizeof mask, &mask);
    ptrace(PTRACE_SETSIGMASK, thread, sizeof all, &all);
    kill(process, SIGSTOP);
    ptrace(PTRACE_CONT, thread, NULL, NULL);
    standing = run_to_stop(thread, SIGSTOP, true, status);
    if (standing != THREAD_STANDS)
        return standing;
    ptrace(PTRACE_SETSIGMASK, thread, sizeof mask, &mask);
    ptrace(PTRACE_DETACH, thread, NULL, NULL);
    return THREAD_STANDS;
}
