/* record_leave.c: processes that are recorded no further, and go on by themselves; see record.h.
 *
 * A thread that is stopped is released at once, another one at its next stop. One that executes
 * instructions is stopped for that. */
#include "replay/record.h"

#include "util/diag.h"
#include "x86/kernel.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void leave_call(struct recorded_thread *thread) {
    int status;
    skip_call(thread->number);
    if (ptrace(PTRACE_SYSCALL, thread->number, NULL, NULL) != 0 || !await_status(thread, &status))
        return; /* it has been killed: its end comes */
    if (WIFSTOPPED(status) && WSTOPSIG(status) == CALL_STOP) {
        repeat_call(thread->number, thread->call.number);
    } else {
        keep_pending(thread, status);
    }
}

/* The instructions that read the time stamp counter read it again. */
static void restore_counter_reads(struct recorded_thread *thread) {
    const struct recorded_process *process = thread->process;
    for (size_t i = 0; i < process->counter_reads.count; i++) {
        const struct counter_read *read = &process->counter_reads.data[i];
        uint8_t code[COUNTER_READ_MAX], replaced[COUNTER_READ_MAX];
        memcpy(replaced, read->code, read->size);
        replace_counter_read(replaced);
        if (read_memory(thread->number, read->address, code, read->size) &&
            memcmp(code, replaced, read->size) == 0) /* it is still mapped there */
            write_memory(thread->number, read->address, read->code, read->size);
    }
}

static void release(struct recorded_thread *thread) {
    end_tick(thread);
    ticks_disarm(&thread->process->ticks, thread->number);
    release_held(thread);
    restore_affinity(&thread->process->affinity, thread->number);
    inside_restore(&thread->process->inside, thread->number);
    pass_thread(thread->recorder, thread->number, thread->signal);
    thread->state = RECORD_LEFT;
    thread->stands = thread->waits = thread->is_pending = false;
    make_fresh(thread->recorder, thread->process->group);
}

/* A child that a thread has made just now is not recorded either. */
static void release_made(struct recorded_thread *thread, const struct thread_stop *stop) {
    bool made =
        stop->reason == REASON_FORK || stop->reason == REASON_VFORK || stop->reason == REASON_CLONE;
    if (!made || !WIFSTOPPED(take_first_status(thread->recorder, stop->child)))
        return;
    restore_affinity(&thread->process->affinity, stop->child);
    pass_thread(thread->recorder, stop->child, 0);
}

/* Whether the thread has read the counter as it was still replaced. */
static bool reads_counter(const struct recorded_thread *thread, const struct thread_stop *stop) {
    const struct recorded_process *process = thread->process;
    uint64_t at = next_instruction(thread->number);
    for (size_t i = 0; i < process->counter_reads.count; i++)
        if (process->counter_reads.data[i].address == at)
            return stop->reason == REASON_FAULT;
    return false;
}

/* If the thread is behind a call that was interrupted, it makes it again. The kernel would do that
 * only if the signal still came to this thread, and no call of ours had been made meanwhile. */
static void restart_call(const struct recorded_thread *thread) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread->number, &registers) || (int64_t)registers.orig_rax < 0 ||
        !inside_is_restart(registers.rax))
        return;
    bool goes_on =
        (int64_t)registers.rax == -INSIDE_RESTART_LAST; /* with what is left of its time */
    registers.rip -= CALL_SIZE;
    registers.rax = goes_on ? SYS_restart_syscall : registers.orig_rax;
    registers.orig_rax = UINT64_MAX;
    set_general_registers(thread->number, &registers);
}

/* THREAD is stopped, but not within a call. */
static void release_here(struct recorded_thread *thread) {
    const uint64_t arguments[6] = {PR_SET_TSC, PR_TSC_ENABLE};
    struct user_regs_struct registers;
    uint64_t call;
    inside_take_waiter(&thread->process->inside, thread->number, &registers, &call);
    restart_call(thread);
    if (thread->process->site)
        inject_call(thread->number, thread->process->site, SYS_prctl, arguments, NULL);
    release(thread);
}

/* THREAD, which leaves, has come to another stop, or its end. */
static void leave_pending(struct recorded_thread *thread) {
    thread->is_pending = false;
    leave_at_stop(thread, thread->pending);
}

/* THREAD stands in front of a call. It makes that by itself. */
static void release_before_call(struct recorded_thread *thread) {
    leave_call(thread);
    if (thread->is_pending)
        leave_pending(thread);
    else
        release_here(thread);
}

/* The SIGSTOP that was sent to THREAD has not come yet. */
static void await_stop(struct recorded_thread *thread, const struct thread_stop *stop) {
    bool signals = stop->reason == REASON_FAULT || stop->reason == REASON_SIGNAL;
    int signal = signals && !reads_counter(thread, stop) ? stop->signal : 0;
    if (stop->reason == REASON_CALL_ENTRY) {
        thread->call = stop->call;
        leave_call(thread);
    }
    release_made(thread, stop);
    if (thread->is_pending)
        leave_pending(thread);
    else
        continue_thread(thread, signal);
}

void leave_at_stop(struct recorded_thread *thread, int status) {
    if (!WIFSTOPPED(status)) {
        record_end(thread, status);
        return;
    }
    struct thread_stop stop = read_stop(thread->number, status, &thread->call);
    bool by_us = thread->stop_asked && stop.reason == REASON_SIGNAL && stop.signal == SIGSTOP;
    if (thread->stop_asked && !by_us) {
        await_stop(thread, &stop);
        return;
    }
    switch (stop.reason) {
    case REASON_CALL_ENTRY:
        thread->call = stop.call;
        release_before_call(thread);
        break;
    case REASON_FAULT:
    case REASON_SIGNAL:
        thread->signal = by_us || reads_counter(thread, &stop) ? 0 : stop.signal;
        release_here(thread);
        break;
    case REASON_CALL_EXIT:
        release_here(thread);
        break;
    default:
        release_made(thread, &stop);
        release(thread);
    }
}

static void leave_thread(struct recorded_thread *thread) {
    bool stands = thread->stands;
    bool enters = thread->state == RECORD_IN_CALL ||
                  (stands && inside_stand(&thread->process->inside, thread->number) != 0);
    bool runs = thread->state == RECORD_RUNS && !stands && !thread->is_pending;
    bool within = thread->state == RECORD_EXECUTES || thread->state == RECORD_ENDS;
    thread->state = RECORD_LEAVES;
    if (thread->is_pending) {
        leave_pending(thread);
    } else if (stands && within) {
        release(thread);
    } else if (stands && enters) {
        release_before_call(thread);
    } else if (stands) {
        release_here(thread);
    } else if (runs) { /* it may never stop by itself */
        thread->stop_asked =
            syscall(SYS_tgkill, thread->process->number, thread->number, SIGSTOP) == 0;
    }
}

/* Ends the recording of PROCESS. With WHOLE, nobody goes on being recorded with its memory. */
static void leave_process(struct recorded_process *process, const char *why, bool whole) {
    struct recorder *recorder = process->recorder;
    bool told = false;
    take_turn_back(recorder, process->group);
    for (struct recorded_thread *at = recorder->threads; at; at = at->next) {
        if (at->process != process || at->state >= RECORD_LEAVES)
            continue;
        if (!told) {
            struct buffer *event = recording_event(&recorder->writer);
            buffer_add(event, why, strlen(why) + 1);
            add_recorded_event(at, QUIPU_EVENT_STOPPED);
            if (whole)
                restore_counter_reads(at);
            told = true;
        }
        leave_thread(at);
    }
}

static void tell(const struct recorded_thread *thread, const char *why) {
    const struct recorder *recorder = thread->recorder;
    const struct recorded_process *process = thread->process;
    bool others = false;
    for (const struct recorded_process *at = recorder->processes; at; at = at->next)
        others |= at != process;
    if (others)
        warn("the recording '%s' ends for process %d ('%s'): %s; it goes on", recorder->path,
             (int)process->number, process->path, why);
    else
        warn("the recording '%s' ends behind %llu system calls: %s; the program goes on",
             recorder->path, (unsigned long long)recorder->calls, why);
}

void stop_recording(struct recorded_thread *thread, const char *why, bool again) {
    struct group *group = thread->process->group;
    tell(thread, why);
    if (again) {
        leave_call(thread);
        keep_child_traced(thread);
    }
    for (struct recorded_process *at = thread->recorder->processes; at; at = at->next)
        if (at->group == group)
            leave_process(at, why, true);
}

void stop_before_program(struct recorded_thread *thread, const char *why) {
    tell(thread, why);
    record_entry(thread); /* others go on with the memory that it has left */
    leave_call(thread);
    leave_process(thread->process, why, false);
}

void stop_whole_recording(struct recorder *recorder, const char *why) {
    warn("the recording '%s' ends behind %llu system calls: %s; the program goes on",
         recorder->path, (unsigned long long)recorder->calls, why);
    for (struct recorded_process *at = recorder->processes; at; at = at->next)
        leave_process(at, why, true);
}
