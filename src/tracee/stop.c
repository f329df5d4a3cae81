/* stop.c: why a thread under our control has stopped; see stop.h.
 *
 * SIGKILL takes a thread out of any stop. It then stops once more, where it ends, and what ptrace
 * tells there is not that of the stop which wait has reported. */
#include "tracee/stop.h"

#include "x86/kernel.h"
#include "x86/trap.h"

#include <errno.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum {
    EVENT_SHIFT = 16
};

static const struct {
    uint8_t event, reason;
} events[] = {
    {PTRACE_EVENT_FORK, REASON_FORK},
    {PTRACE_EVENT_VFORK, REASON_VFORK},
    {PTRACE_EVENT_VFORK_DONE, REASON_VFORK_DONE},
    {PTRACE_EVENT_CLONE, REASON_CLONE},
    {PTRACE_EVENT_EXEC, REASON_EXEC},
    {PTRACE_EVENT_EXIT, REASON_EXIT},
};

/* Takes the CALL of the stop from what the kernel tells of it. */
static void take_entry(struct thread_stop *stop, uint64_t number, const void *arguments,
                       uint32_t interface) {
    stop->reason = REASON_CALL_ENTRY;
    stop->call.number = number;
    stop->has_other_numbers = interface != AUDIT_ARCH_X86_64;
    memcpy(stop->call.arguments, arguments, sizeof stop->call.arguments);
}

/* The thread is in front of a system call, or behind it; or a filter of the kernel has reported the
 * call, in front of which it is. */
static void read_call(struct thread_stop *stop) {
    struct __ptrace_syscall_info info;
    memset(&info, 0, sizeof info);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, stop->thread, (void *)sizeof info, &info) <= 0) {
        stop->reason = errno == ESRCH ? REASON_KILLED : REASON_CALL;
        return;
    }
    switch (info.op) {
    case PTRACE_SYSCALL_INFO_ENTRY:
        take_entry(stop, info.entry.nr, info.entry.args, info.arch);
        break;
    case PTRACE_SYSCALL_INFO_SECCOMP:
        take_entry(stop, info.seccomp.nr, info.seccomp.args, info.arch);
        stop->is_filtered = true;
        break;
    case PTRACE_SYSCALL_INFO_EXIT:
        stop->reason = REASON_CALL_EXIT;
        stop->call.result = info.exit.rval;
        break;
    default:
        stop->reason = REASON_KILLED;
    }
}

bool read_event_message(pid_t thread, int event, unsigned long *message) {
    siginfo_t info;
    return ptrace(PTRACE_GETEVENTMSG, thread, NULL, message) == 0 &&
           ptrace(PTRACE_GETSIGINFO, thread, NULL, &info) == 0 &&
           info.si_code == (SIGTRAP | event << 8);
}

static void read_event(struct thread_stop *stop, int event) {
    unsigned long message = 0;
    stop->reason =
        event == PTRACE_EVENT_STOP && stop->signal != SIGTRAP ? REASON_JOB : REASON_EVENT;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i].event == event)
            stop->reason = (enum stop_reason)events[i].reason;
    if (event == PTRACE_EVENT_SECCOMP)
        read_call(stop);
    else if (event != PTRACE_EVENT_EXIT && event != PTRACE_EVENT_STOP &&
             !read_event_message(stop->thread, event, &message))
        stop->reason = REASON_KILLED;
    stop->child = stop->reason == REASON_KILLED ? 0 : (pid_t)message;
}

/* A SIGTRAP that the kernel has sent for what the thread did, or that some process has sent. In a
 * busy virtual machine DR6 may say nothing after a step, or a write that is watched; the kernel
 * then calls it TRAP_BRKPT, though there is no breakpoint. */
static void read_trap(struct thread_stop *stop, int code) {
    if (trap_address(stop->thread, &stop->address))
        stop->reason = REASON_BREAKPOINT;
    else if ((stop->written = take_written(stop->thread)) || code == TRAP_HWBKPT)
        stop->reason = REASON_WRITE;
    else if (code == TRAP_TRACE || code == TRAP_BRKPT)
        stop->reason = REASON_STEP;
}

static void read_signal(struct thread_stop *stop) {
    int signal = stop->signal;
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, stop->thread, NULL, &info) != 0) {
        stop->reason = errno == ESRCH ? REASON_KILLED : REASON_JOB;
        return;
    }
    if (info.si_code == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
        stop->reason = REASON_KILLED;
        return;
    }
    bool for_what_it_did = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
                           signal == SIGILL || signal == SIGTRAP;
    stop->reason = for_what_it_did && info.si_code > 0 ? REASON_FAULT : REASON_SIGNAL;
    if (signal == SIGTRAP)
        read_trap(stop, info.si_code);
}

struct thread_stop read_stop(pid_t thread, int status, const struct system_call *call) {
    struct thread_stop stop = {.reason = REASON_ENDED, .thread = thread, .status = status};
    if (call)
        stop.call = *call;
    if (!WIFSTOPPED(status))
        return stop;
    stop.signal = WSTOPSIG(status);
    if (stop.signal == CALL_STOP)
        read_call(&stop);
    else if (status >> EVENT_SHIFT)
        read_event(&stop, status >> EVENT_SHIFT);
    else
        read_signal(&stop);
    return stop;
}
