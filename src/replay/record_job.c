/* record_job.c: signals that stop recorded processes, and SIGCONT; see record.h.
 *
 * Such a signal is delivered where it comes, as it changes nothing that the process sees. The
 * kernel then stops all its threads and tells its parent; each of them is reported as stopped
 * (ptrace(2), group-stop), and is not continued. The kernel does not report SIGCONT to a tracer
 * that has not seized the process, but keeps it pending, so that is looked for now and then. In a
 * replay nothing stops: what others get to know of it are results of their calls.
 *
 * Where a shell has stopped the first process by the terminal, the recorder stops, too, since it is
 * what the shell has started.
 *
 * Not perfect: a signal that comes within the code of one of several processes that share memory
 * stops it there; a replay does not find that place, so the others may come earlier or later. */
#include "replay/record.h"

#include "util/refusal.h"

#include <signal.h>
#include <unistd.h>

static bool is_of_terminal(int signal) {
    return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static bool is_stopped(const struct recorded_process *process) {
    for (const struct recorded_thread *at = process->recorder->threads; at; at = at->next)
        if (at->process == process && at->state < RECORD_ENDS && !at->is_stopped)
            return false;
    return true;
}

/* Whether a shell controls us, together with PROCESS, as a job. */
static bool is_job(pid_t process) {
    return getpgid(process) == getpgrp() && getpgid(getppid()) != getpgrp();
}

/* Stops the recorder as SIGNAL does, until it gets SIGCONT. */
static void stop_us(int signal) {
    const struct sigaction stops = {.sa_handler = SIG_DFL};
    struct sigaction old;
    sigaction(signal, &stops, &old);
    raise(signal);
    sigaction(signal, &old, NULL);
}

void record_stop(struct recorded_thread *thread, int signal) {
    const struct recorded_process *process = thread->process;
    thread->is_stopped = true;
    if (process->number == thread->recorder->first && is_of_terminal(signal) &&
        is_stopped(process) && is_job(process->number))
        stop_us(signal);
}

void continue_stopped(struct recorded_process *process) {
    for (struct recorded_thread *at = process->recorder->threads; at; at = at->next)
        if (at->process == process && at->is_stopped) {
            at->is_stopped = false;
            make_fresh(process->recorder, process->group);
        }
}

static bool is_pending(const struct recorded_thread *thread, const char *key, int signal) {
    long set = read_status(thread->number, key, 16);
    return set >= 0 && (unsigned long)set >> (signal - 1) & 1;
}

void look_at_stopped(struct recorder *recorder) {
    for (struct recorded_thread *at = recorder->threads; at; at = at->next)
        if (at->is_stopped &&
            (is_pending(at, "ShdPnd:", SIGCONT) || is_pending(at, "SigPnd:", SIGCONT)))
            continue_stopped(at->process);
}
