/* stop.c: why a thread under our control has stopped; see stop.h. */
#include "tracee/stop.h"

#include "x86/kernel.h"
#include "x86/trap.h"

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

/* A filter of the kernel has reported the call, in front of which the thread is. */
static void read_filtered(struct thread_stop *stop) {
    struct __ptrace_syscall_info info;
    memset(&info, 0, sizeof info);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, stop->thread, (void *)sizeof info, &info) <= 0)
        return;
    stop->reason = REASON_CALL_ENTRY;
    stop->is_filtered = true;
    stop->call.number = info.seccomp.nr;
    stop->has_other_numbers = info.arch != AUDIT_ARCH_X86_64;
    for (int i = 0; i < 6; i++)
        stop->call.arguments[i] = info.seccomp.args[i];
}

static void read_event(struct thread_stop *stop, int event) {
    unsigned long message = 0;
    stop->reason =
        event == PTRACE_EVENT_STOP && stop->signal != SIGTRAP ? REASON_JOB : REASON_EVENT;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i].event == event)
            stop->reason = (enum stop_reason)events[i].reason;
    if (event == PTRACE_EVENT_SECCOMP)
        read_filtered(stop);
    else if (event != PTRACE_EVENT_EXIT && event != PTRACE_EVENT_STOP)
        ptrace(PTRACE_GETEVENTMSG, stop->thread, NULL, &message);
    stop->child = (pid_t)message;
}

static void read_call(struct thread_stop *stop) {
    struct __ptrace_syscall_info info;
    memset(&info, 0, sizeof info);
    stop->reason = REASON_CALL;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, stop->thread, (void *)sizeof info, &info) <= 0)
        return;
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) {
        stop->reason = REASON_CALL_EXIT;
        stop->call.result = info.exit.rval;
        return;
    }
    stop->reason = REASON_CALL_ENTRY;
    stop->call.number = info.entry.nr;
    stop->has_other_numbers = info.arch != AUDIT_ARCH_X86_64;
    for (int i = 0; i < 6; i++)
        stop->call.arguments[i] = info.entry.args[i];
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
        stop->reason = REASON_JOB;
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
