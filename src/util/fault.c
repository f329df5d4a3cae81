/* fault.c: work that a fault of quipu's own may end; see fault.h.
 *
 * Not perfect: temporary files of a child that crashed stay. Work that never ends is not ended. */
#include "util/fault.h"

#include "util/parent.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory that parent and child share. NULL: the work is not guarded. */
static struct fault *present;

enum {
    FAULT_STATUS = 70 /* exit status of a child that a fault ended; `reason` is then set, too */
};

bool is_guarded(void) {
    return present != NULL;
}

void fault_subjects(uint32_t count) {
    if (present)
        present->subjects = count;
}

void fault_subject(uint32_t number, const char *name, size_t length, unsigned line) {
    if (!present)
        return;
    present->subject = number;
    present->stage[0] = '\0';
    if (!number)
        return;
    if (length >= sizeof present->name)
        length = sizeof present->name - 1;
    memcpy(present->name, name, length);
    present->name[length] = '\0';
    present->line = line;
}

void fault_stage(const char *name) {
    if (present)
        snprintf(present->stage, sizeof present->stage, "%s", name ? name : "");
}

void end_by_fault(const char *reason) {
    snprintf(present->reason, sizeof present->reason, "%s", reason);
    fflush(NULL);
    _exit(FAULT_STATUS);
}

/* Writes no core file next to the user's files: the input that is kept is enough to repeat the
 * fault. If the parent ends, the child ends, too, since nothing waits for its result. */
static _Noreturn void run_child(int (*work)(void *context), void *context, pid_t parent) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    end_with_parent(parent, SIGTERM);
    exit(work(context));
}

/* Whether SIGNAL may be caused by quipu's own code, or by the resources that it uses. */
static bool is_fault(int signal) {
    static const int signals[] = {SIGSEGV, SIGBUS,  SIGABRT, SIGFPE, SIGILL,
                                  SIGTRAP, SIGXCPU, SIGSYS,  SIGKILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signal == signals[i])
            return true;
    return false;
}

/* Ends the parent by the signal that ended the child. Its sender wanted to end both. */
static void end_likewise(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

static bool wait_for(pid_t child, struct fault *fault, int *status) {
    int state;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR) {
            snprintf(fault->reason, sizeof fault->reason, "its process is lost: %s",
                     strerror(errno));
            return false;
        }
    if (WIFSIGNALED(state)) {
        int number = WTERMSIG(state);
        if (!is_fault(number))
            end_likewise(number);
        snprintf(fault->reason, sizeof fault->reason, "ends by signal %d (%s)", number,
                 strsignal(number));
        return false;
    }
    *status = WEXITSTATUS(state);
    return !fault->reason[0];
}

bool run_guarded(int (*work)(void *context), void *context, struct fault *fault, int *status) {
    *fault = (struct fault){0};
    void *shared =
        mmap(NULL, sizeof *present, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    present = shared == MAP_FAILED ? NULL : shared;
    fflush(NULL);
    pid_t parent = getpid(), child = present ? fork() : -1;
    if (child == 0)
        run_child(work, context, parent);
    bool done = true;
    if (child > 0) {
        done = wait_for(child, present, status);
        *fault = *present;
    }
    if (present)
        munmap(shared, sizeof *present);
    present = NULL;
    if (child < 0)
        *status = work(context);
    return done;
}
