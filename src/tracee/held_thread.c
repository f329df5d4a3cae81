/* held_thread.c: one thread under control; see held_thread.h. */
#include "tracee/held_thread.h"

#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "util/clock.h"
#include "x86/trap.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum {
    PATIENCE = 2,      /* seconds; the program may block the signal */
    PAUSE = 100 * 1000 /* nanoseconds between looks */
};

pid_t wait_for_thread(pid_t thread, int options, int *status) {
    pid_t waited;
    while ((waited = waitpid(thread, status, options)) < 0 && errno == EINTR)
        continue;
    return waited;
}

bool hold_thread(pid_t thread) {
    return ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0;
}

enum held_state stop_held_thread(pid_t thread, int *status) {
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    if (wait_for_thread(thread, __WALL, status) != thread)
        return HELD_RUNS;
    if (WIFSTOPPED(*status))
        return HELD_STOPPED;
    errno = ESRCH;
    return HELD_ENDED;
}

static bool is_event(int status) {
    return status >> 16 != 0;
}

/* The signal that a thread which stopped with STATUS gets when it continues; 0: none. */
static long signal_of(int status) {
    return is_event(status) ? 0 : WSTOPSIG(status);
}

void release_held_thread(pid_t thread, int status) {
    ptrace(PTRACE_DETACH, thread, NULL, signal_of(status));
}

/* Waits until the held THREAD has a new STATUS, or END has come. Returns whether it has one. */
static bool wait_until(double end, pid_t thread, int *status) {
    const struct timespec pause = {0, PAUSE};
    pid_t waited;
    while ((waited = wait_for_thread(thread, __WALL | WNOHANG, status)) == 0 &&
           clock_seconds() < end)
        nanosleep(&pause, NULL);
    return waited == thread;
}

/* Continues from a stop that is not the one that is waited for. */
static void continue_from(pid_t thread, int status) {
    if (read_stop(thread, status, NULL).reason == REASON_JOB)
        ptrace(PTRACE_LISTEN, thread, NULL, NULL);
    else
        ptrace(PTRACE_CONT, thread, NULL, signal_of(status));
}

/* Continues the held THREAD until its stop is one by SIGNAL: of the thread, or where WHOLE of its
 * whole process. A thread that does not stop so in time is released. */
static enum held_state run_to_signal(pid_t thread, int signal, bool whole, int *status) {
    double end = clock_seconds() + PATIENCE;
    while (wait_until(end, thread, status)) {
        if (!WIFSTOPPED(*status))
            return HELD_ENDED;
        if (WSTOPSIG(*status) == signal && is_event(*status) == whole)
            return HELD_STOPPED;
        continue_from(thread, *status);
    }
    enum held_state state = stop_held_thread(thread, status);
    if (state != HELD_STOPPED)
        return state;
    release_held_thread(thread, *status);
    return HELD_RUNS;
}

enum held_state stop_process_at_trap(pid_t process, pid_t thread, int *status) {
    uint64_t mask, all = ~(uint64_t)0;
    enum held_state state = run_to_signal(thread, SIGTRAP, false, status);
    if (state != HELD_STOPPED)
        return state;
    /* It must execute nothing before it stops again, so other signals wait. */
    ptrace(PTRACE_GETSIGMASK, thread, sizeof mask, &mask);
    ptrace(PTRACE_SETSIGMASK, thread, sizeof all, &all);
    kill(process, SIGSTOP);
    ptrace(PTRACE_CONT, thread, NULL, NULL);
    state = run_to_signal(thread, SIGSTOP, true, status);
    if (state != HELD_STOPPED)
        return state; /* it has ended: the kernel stops a thread for SIGSTOP whatever its mask is */
    ptrace(PTRACE_SETSIGMASK, thread, sizeof mask, &mask);
    ptrace(PTRACE_DETACH, thread, NULL, NULL);
    return HELD_STOPPED;
}

bool run_process_to(pid_t process, uint64_t address) {
    const uint8_t breakpoint = BREAKPOINT_BYTE;
    uint8_t byte;
    int status;
    if (!read_memory(process, address, &byte, 1) ||
        !write_memory(process, address, &breakpoint, 1) ||
        ptrace(PTRACE_CONT, process, NULL, NULL) != 0 ||
        wait_for_thread(process, 0, &status) != process)
        return false;
    struct thread_stop stop = read_stop(process, status, NULL);
    if (stop.reason != REASON_BREAKPOINT || stop.address != address)
        return false;
    set_thread_address(process, address);
    return write_memory(process, address, &byte, 1);
}
