/* visit.c: sends a stopped thread to a function, and back; see visit.h.
 *
 * If a thread was interrupted in a system call, orig_rax has the call's number. rax has one of the
 * kernel's own numbers for a call that must be repeated (signal(7)). While the thread is away there
 * is no call number, so nothing is repeated. When it is back it is in a stop of the same kind,
 * behind which the kernel reads both registers again.
 *
 * Not perfect: if the thread was in a restartable sequence (rseq), the sequence continues although
 * it was interrupted. */
#include "x86/visit.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum {
    FLAG_TRAP = 1 << 8,
    FLAG_DOWN = 1 << 10,
};

/* Restores the state of the thread, which is stopped. */
static bool restore(const struct visit *visit) {
    return set_registers(visit->thread, &visit->registers) &&
           ptrace(PTRACE_SETSIGMASK, visit->thread, sizeof visit->mask, &visit->mask) == 0;
}

bool begin_visit(struct visit *visit, pid_t thread, uint64_t function, uint64_t argument,
                 uint64_t stack) {
    uint64_t all = UINT64_MAX;
    visit->thread = thread;
    visit->stop_asked = false;
    if (!get_registers(thread, &visit->registers) ||
        ptrace(PTRACE_GETSIGMASK, thread, sizeof visit->mask, &visit->mask) != 0)
        return false;
    struct user_regs_struct sent = visit->registers.general;
    sent.rip = function;
    sent.rdi = argument;
    sent.rsp = (stack & ~(uint64_t)15) - 8; /* as behind a call */
    sent.rbp = 0;
    sent.orig_rax = UINT64_MAX;
    sent.eflags &= ~(uint64_t)(FLAG_TRAP | FLAG_DOWN);
    if (ptrace(PTRACE_SETSIGMASK, thread, sizeof all, &all) == 0 &&
        set_general_registers(thread, &sent) && ptrace(PTRACE_CONT, thread, NULL, NULL) == 0)
        return true;
    int cause = errno;
    restore(visit);
    errno = cause;
    return false;
}

/* Only signals that cannot be blocked arrive, and faults of the function. They are not
 * delivered. */
static bool go_on(struct visit *visit, int status) {
    if (!WIFSTOPPED(status))
        return false;
    visit->stop_asked |= !(status >> 16) && WSTOPSIG(status) == SIGSTOP;
    return ptrace(PTRACE_CONT, visit->thread, NULL, NULL) == 0;
}

/* A thread of a stopped process stops twice: for that, and for quipu. */
bool keep_visit(struct visit *visit) {
    int status;
    pid_t waited = waitpid(visit->thread, &status, __WALL | WNOHANG);
    return waited == 0 || (waited == visit->thread && go_on(visit, status));
}

bool end_visit(struct visit *visit) {
    int status = 0;
    if (ptrace(PTRACE_INTERRUPT, visit->thread, NULL, NULL) != 0)
        return false;
    while (waitpid(visit->thread, &status, __WALL) == visit->thread && WIFSTOPPED(status)) {
        if (status >> 16 != PTRACE_EVENT_STOP) {
            if (!go_on(visit, status))
                return false;
            continue;
        }
        if (visit->stop_asked)
            kill(visit->thread, SIGSTOP);
        return restore(visit);
    }
    return false;
}
