/* record_pass.c: threads that are no longer recorded, but must be traced; see record.h.
 *
 * A filter of the kernel that reports system calls to a tracer cannot be taken away, and without a
 * tracer these calls fail. So a thread that is released is continued at each stop, as are those
 * that it makes. Nothing of them is looked at. */
#include "replay/record.h"

#include "tracee/stop.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum {
    EVENT_SHIFT = 16
};

static void forget(struct recorder *recorder, pid_t number) {
    for (size_t i = 0; i < recorder->passing.count; i++)
        if (recorder->passing.data[i] == number) {
            recorder->passing.data[i] = recorder->passing.data[--recorder->passing.count];
            return;
        }
}

static bool passes(const struct recorder *recorder, pid_t number) {
    for (size_t i = 0; i < recorder->passing.count; i++)
        if (recorder->passing.data[i] == number)
            return true;
    return false;
}

void pass_thread(struct recorder *recorder, pid_t number, int signal) {
    if (!recorder->filters) {
        ptrace(PTRACE_DETACH, number, NULL, (void *)(intptr_t)signal);
        return;
    }
    vector_push(recorder->arena, &recorder->passing, number);
    ptrace(PTRACE_CONT, number, NULL, (void *)(intptr_t)signal);
}

/* What the event tells of: a thread that was made, or one that has got another's number. */
static void follow(struct recorder *recorder, pid_t number, int event) {
    unsigned long other = 0;
    if (!read_event_message(number, event, &other) || !other)
        return;
    if (event == PTRACE_EVENT_EXEC && (pid_t)other != number)
        forget(recorder, (pid_t)other);
    if (event != PTRACE_EVENT_FORK && event != PTRACE_EVENT_VFORK && event != PTRACE_EVENT_CLONE)
        return;
    int status = take_first_status(recorder, (pid_t)other);
    if (WIFSTOPPED(status))
        pass_thread(recorder, (pid_t)other, 0);
}

bool pass_status(struct recorder *recorder, pid_t number, int status) {
    if (!passes(recorder, number))
        return false;
    if (!WIFSTOPPED(status)) {
        forget(recorder, number);
        if (number == recorder->first) {
            recorder->first_ended = true;
            recorder->status = status;
        }
        return true;
    }
    int event = status >> EVENT_SHIFT, signal = WSTOPSIG(status);
    if (event)
        follow(recorder, number, event);
    bool is_signal = !event && signal != CALL_STOP;
    ptrace(PTRACE_CONT, number, NULL, (void *)(intptr_t)(is_signal ? signal : 0));
    return true;
}
