/* record_end.c: the ends of recorded threads and processes; see record.h.
 *
 * When a thread ends, the kernel writes to its memory for others: it clears the word of
 * set_tid_address, and marks the locks of its robust list, as futex(2) and get_robust_list(2)
 * describe (the kernel's kernel/futex/core.c). Nobody else executes until it has done so.
 *
 * Not perfect: of a robust list at most ROBUST_MOST locks are known. */
#include "replay/record.h"

#include "util/process.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROBUST_MOST = 2048, /* as in the kernel */
    KIND_BIT = 1        /* of an address in the list: the lock inherits priority */
};

/* ---- what the kernel writes ---- */

/* Adds the memory of the lock at ADDRESS, if THREAD holds it. */
static void record_lock(struct recorded_thread *thread, uint64_t address) {
    uint32_t word;
    if (!read_memory(thread->number, address, &word, sizeof word) ||
        (word & FUTEX_TID_MASK) != (uint32_t)thread->number)
        return;
    word = (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    add_recorded_memory(thread, address, &word, sizeof word, NULL);
}

static void record_locks(struct recorded_thread *thread) {
    struct robust_list_head *at = NULL, head = {.futex_offset = 0};
    size_t size = 0;
    uint64_t next;
    if (syscall(SYS_get_robust_list, thread->number, &at, &size) != 0 || !at ||
        !read_memory(thread->number, (uint64_t)at, &head, sizeof head))
        return;
    uint64_t pending = (uint64_t)head.list_op_pending & ~(uint64_t)KIND_BIT;
    uint64_t entry = (uint64_t)head.list.next & ~(uint64_t)KIND_BIT;
    for (int i = 0; i < ROBUST_MOST && entry && entry != (uint64_t)at; i++) {
        if (entry != pending)
            record_lock(thread, entry + (uint64_t)head.futex_offset);
        if (!read_memory(thread->number, entry, &next, sizeof next))
            break;
        entry = next & ~(uint64_t)KIND_BIT;
    }
    if (pending)
        record_lock(thread, pending + (uint64_t)head.futex_offset);
}

static void record_cleared(struct recorded_thread *thread) {
    uint32_t word;
    if (!thread->clear || !read_memory(thread->number, thread->clear, &word, sizeof word))
        return;
    word = 0;
    add_recorded_memory(thread, thread->clear, &word, sizeof word, NULL);
}

/* Whether others have the memory of THREAD's process. */
static bool is_shared(const struct recorded_thread *thread) {
    return thread->process->group->threads > 1;
}

/* Waits until THREAD does not write any more. Its end may be reported later: that of the first
 * thread of a process comes behind those of the others. */
static void await_end(struct recorded_thread *thread) {
    int status;
    for (;;) {
        pid_t ended = poll_status(thread, &status);
        if (ended == thread->number) {
            keep_pending(thread, status);
        }
        if (ended != 0 || has_ended(thread->process->number, thread->number))
            return;
        sched_yield();
    }
}

/* A thread that is killed within its call has executed what is in front of that. */
static void record_last_call(struct recorded_thread *thread) {
    if (thread->state == RECORD_IN_CALL && !thread->is_entry)
        record_entry(thread);
}

void record_exit(struct recorded_thread *thread) {
    bool shared = is_shared(thread);
    if (thread->recorder->writing == thread)
        end_writing(thread->recorder);
    if (shared) {
        record_last_call(thread);
        record_locks(thread);
        record_cleared(thread);
        recording_event(&thread->recorder->writer);
        add_recorded_event(thread, QUIPU_EVENT_EXIT);
    }
    thread->state = RECORD_ENDS;
    thread->stands = false;
    ptrace(PTRACE_CONT, thread->number, NULL, NULL);
    if (shared)
        await_end(thread);
}

/* ---- the end ---- */

void record_end(struct recorded_thread *thread, int status) {
    struct recorder *recorder = thread->recorder;
    bool is_process = thread->number == thread->process->number;
    if (is_shared(thread))
        record_last_call(thread);
    if (is_process) {
        struct buffer *event = recording_event(&recorder->writer);
        put_number(event, (uint32_t)status, sizeof(uint32_t));
        add_recorded_event(thread, QUIPU_EVENT_END);
    }
    if (thread->number == recorder->first) {
        recorder->first_ended = true;
        recorder->status = status;
    }
    thread->stands = false;
    thread->state = RECORD_LEFT;
    make_fresh(recorder, thread->process->group);
}
