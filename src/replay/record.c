/* record.c: what all parts of a recorder need: where the process is, and how it is left; see
 * record.h. */
#include "replay/record.h"

#include "util/diag.h"
#include "x86/kernel.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

void set_boundary(struct recorder *recorder, bool before_call) {
    recorder->has_boundary = get_general_registers(recorder->process, &recorder->boundary);
    recorder->before_call = before_call;
}

void release_held(struct recorder *recorder) {
    if (recorder->held)
        ptrace(PTRACE_SETSIGMASK, recorder->process, sizeof recorder->mask, &recorder->mask);
    recorder->held = false;
}

/* The process leaves the call in front of which it is stopped, and makes it when it continues. */
static void leave_call(struct recorder *recorder) {
    int status;
    skip_call(recorder->process);
    if (ptrace(PTRACE_SYSCALL, recorder->process, NULL, NULL) == 0 &&
        waitpid(recorder->process, &status, __WALL) == recorder->process && WIFSTOPPED(status))
        repeat_call(recorder->process, recorder->call.number);
}

/* The instructions that read the time stamp counter read it again. */
static void restore_counter_reads(struct recorder *recorder) {
    for (size_t i = 0; i < recorder->counter_reads.count; i++) {
        const struct counter_read *read = &recorder->counter_reads.data[i];
        uint8_t code[COUNTER_READ_MAX], replaced[COUNTER_READ_MAX];
        memcpy(replaced, read->code, read->size);
        replace_counter_read(replaced);
        if (read_memory(recorder->process, read->address, code, read->size) &&
            memcmp(code, replaced, read->size) == 0) /* it is still mapped there */
            write_memory(recorder->process, read->address, read->code, read->size);
    }
}

void stop_recording(struct recorder *recorder, const char *why, bool again) {
    const uint64_t arguments[6] = {PR_SET_TSC, PR_TSC_ENABLE};
    struct buffer *event = recording_event(&recorder->writer);
    buffer_add(event, why, strlen(why) + 1);
    recording_add(&recorder->writer, QUIPU_EVENT_STOPPED, RECORDED_THREAD);
    warn("the recording '%s' ends behind %llu system calls: %s; the program goes on",
         recorder->path, (unsigned long long)recorder->calls, why);
    if (again)
        leave_call(recorder);
    if (recorder->site)
        inject_call(recorder->process, recorder->site, SYS_prctl, arguments, NULL);
    restore_counter_reads(recorder);
    release_held(recorder);
    restore_affinity(&recorder->affinity, recorder->process);
    ptrace(PTRACE_DETACH, recorder->process, NULL, (void *)(intptr_t)recorder->signal);
    recorder->state = RECORD_LEFT;
}
