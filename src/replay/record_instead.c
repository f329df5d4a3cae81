/* record_instead.c: calls that are made with other arguments than the program gives, as the kernel
 * would hide something from the recorder otherwise; see record.h. The program and the recording
 * have its own arguments.
 *
 *   - clone with CLONE_UNTRACED, without: nobody could trace what it makes.
 *   - prctl(PR_SET_DUMPABLE, 0), with 1: only root could read the memory of the process. What
 *     PR_GET_DUMPABLE tells is the program's value.
 *
 * What prctl tells of the recorder's own filter, and that reads of the counter fault, is corrected,
 * too.
 *
 * Not perfect: PR_GET_NO_NEW_PRIVS tells of the recorder. */
#include "replay/record.h"

#include "x86/call_stop.h"
#include "x86/kernel.h"

#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static bool sets_dumpable(const struct system_call *call) {
    return call->number == SYS_prctl && call->arguments[0] == PR_SET_DUMPABLE;
}

/* Sets ANSWER to what the program would be told without us, if that is something else. */
static bool find_answer(const struct recorded_thread *thread, int64_t *answer) {
    const struct recorded_process *process = thread->process;
    switch (thread->call.arguments[0]) {
    case PR_GET_DUMPABLE:
        *answer = 0;
        return process->is_undumpable;
    case PR_GET_SECCOMP:
        *answer = prctl(PR_GET_SECCOMP);
        return !process->filters;
    default:
        return false;
    }
}

static void correct_answer(struct recorded_thread *thread) {
    struct system_call *call = &thread->call;
    const uint32_t enabled = PR_TSC_ENABLE;
    int64_t answer;
    if (call->number != SYS_prctl || call->result < 0)
        return;
    if (call->arguments[0] == PR_GET_TSC)
        write_memory(thread->number, call->arguments[1], &enabled, sizeof enabled);
    if (!find_answer(thread, &answer))
        return;
    call->result = answer;
    set_call_result(thread->number, answer);
}

void begin_instead(struct recorded_thread *thread) {
    const struct system_call *call = &thread->call;
    uint64_t arguments[6];
    memcpy(arguments, call->arguments, sizeof arguments);
    if (call->number == SYS_clone)
        arguments[0] &= ~(uint64_t)CLONE_UNTRACED;
    else if (sets_dumpable(call) && arguments[1] == 0)
        arguments[1] = 1;
    thread->is_instead = memcmp(arguments, call->arguments, sizeof arguments) != 0 &&
                         set_call_arguments(thread->number, arguments);
}

void end_instead(struct recorded_thread *thread) {
    const struct system_call *call = &thread->call;
    if (thread->is_instead)
        set_call_arguments(thread->number, call->arguments);
    thread->is_instead = false;
    if (sets_dumpable(call) && call->result == 0)
        thread->process->is_undumpable = call->arguments[1] == 0;
    correct_answer(thread);
}
