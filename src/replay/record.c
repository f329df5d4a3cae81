/* record.c: what all parts of a recorder need: its threads, processes and groups, and where a
 * thread is; see record.h. */
#include "replay/record.h"

#include "util/process.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum {
    STOP_PAUSE = 20000, /* nanoseconds between two looks at a thread that is about to stop */
    LOOKS_AT_ONCE = 10, /* without that pause */
    LOOKS_OF_END = 20   /* of which one is at its end */
};

/* ---- threads and processes ---- */

struct recorded_thread *find_recorded_thread(struct recorder *recorder, pid_t number) {
    struct recorded_thread *thread = recorder->threads;
    while (thread && (thread->number != number || thread->state == RECORD_LEFT))
        thread = thread->next;
    return thread;
}

struct recorded_thread *add_recorded_thread(struct recorded_process *process, pid_t number) {
    struct recorder *recorder = process->recorder;
    struct recorded_thread *thread = calloc(1, sizeof *thread);
    CHECK(thread);
    *thread = (struct recorded_thread){.recorder = recorder,
                                       .process = process,
                                       .next = recorder->threads,
                                       .number = number,
                                       .id = ++recorder->begun,
                                       .opened = ""};
    recorder->threads = thread;
    process->threads++;
    process->group->threads++;
    return thread;
}

void make_fresh(struct recorder *recorder, struct group *group) {
    group->is_fresh = recorder->has_fresh = true;
}

static struct group *add_group(struct recorder *recorder) {
    struct group *group = calloc(1, sizeof *group);
    CHECK(group);
    group->next = recorder->groups;
    recorder->groups = group;
    make_fresh(recorder, group);
    return group;
}

struct recorded_process *add_recorded_process(struct recorder *recorder, pid_t number) {
    struct recorded_process *process = calloc(1, sizeof *process);
    CHECK(process);
    process->recorder = recorder;
    process->number = number;
    process->path = "";
    process->group = add_group(recorder);
    process->next = recorder->processes;
    recorder->processes = process;
    return process;
}

static void remove_process(struct recorded_process *process) {
    struct recorded_process **link = &process->recorder->processes;
    while (*link != process)
        link = &(*link)->next;
    *link = process->next;
    ticks_forget(&process->ticks);
    arena_release(&process->arena);
    free(process->name);
    free(process);
}

static void forget_turn(struct group *group, const struct recorded_thread *thread) {
    if (group->turn == thread)
        group->turn = NULL;
}

void remove_recorded_thread(struct recorded_thread *thread) {
    struct recorder *recorder = thread->recorder;
    struct recorded_process *process = thread->process;
    struct recorded_thread **link = &recorder->threads;
    while (*link != thread)
        link = &(*link)->next;
    *link = thread->next;
    forget_turn(process->group, thread);
    if (--process->group->threads == 0)
        make_fresh(recorder, process->group);
    if (--process->threads == 0)
        remove_process(process);
    if (recorder->writing == thread)
        end_writing(recorder);
    arena_release(&thread->effects.arena);
    free(thread->name);
    free(thread->entry);
    free(thread);
}

void change_group(struct recorded_process *process, struct group *group) {
    struct group *old = process->group;
    if (group == old)
        return;
    process->group = group ? group : add_group(process->recorder);
    for (struct recorded_thread *at = process->recorder->threads; at; at = at->next)
        if (at->process == process)
            forget_turn(old, at);
    old->threads -= process->threads;
    process->group->threads += process->threads;
    make_fresh(process->recorder, old);
}

/* ---- stops ---- */

bool is_program_call(uint64_t number) {
    return number == SYS_execve || number == SYS_execveat;
}

/* Whether THREAD's number is that of another thread now, which has executed a program, and whose
 * stop is there. */
static bool has_lost_number(const struct recorded_thread *thread) {
    const struct recorded_process *process = thread->process;
    bool executes = thread->state == RECORD_IN_CALL && is_program_call(thread->call.number);
    siginfo_t info = {0};
    if (process->threads == 1 || executes || thread->number != process->number ||
        waitid(P_PID, (id_t)thread->number, &info,
               WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
        return false;
    return info.si_status == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
}

pid_t poll_status(const struct recorded_thread *thread, int *status) {
    return has_lost_number(thread) ? -1 : waitpid(thread->number, status, __WALL | WNOHANG);
}

bool await_status(const struct recorded_thread *thread, int *status) {
    const struct timespec pause = {0, STOP_PAUSE};
    for (unsigned looks = 1;; looks++) {
        pid_t stopped = poll_status(thread, status);
        if (stopped)
            return stopped == thread->number;
        if (looks % LOOKS_OF_END == 0 && has_ended(thread->process->number, thread->number))
            return false;
        if (looks < LOOKS_AT_ONCE)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
}

/* ---- events ---- */

void add_recorded_event(struct recorded_thread *thread, enum quipu_event_kind kind) {
    recording_add(&thread->recorder->writer, kind, thread->id);
}

void add_recorded_memory(struct recorded_thread *thread, uint64_t address, const void *bytes,
                         size_t size, const uint64_t arguments[6]) {
    recording_add_memory(&thread->recorder->writer, thread->id, address, bytes, size, arguments);
}

void record_call(struct recorded_thread *thread) {
    const struct system_call *call = &thread->call;
    uint32_t hash = thread->call_hash ^ hash_written(thread->number, call);
    recording_add_call(&thread->recorder->writer, thread->id, call->number, hash,
                       call->result > 0 ? thread->stream : 0, call->result);
    thread->recorder->calls++;
}

/* A thread that waits for a lock which inherits priority has marked it. */
static void record_mark(struct recorded_thread *thread) {
    const struct system_call *call = &thread->call;
    uint64_t futex = call->arguments[1] & FUTEX_CMD_MASK;
    uint32_t word;
    if (call->number == SYS_futex && (futex == FUTEX_LOCK_PI || futex == FUTEX_LOCK_PI2) &&
        read_memory(thread->number, call->arguments[0], &word, sizeof word))
        add_recorded_memory(thread, call->arguments[0], &word, sizeof word, call->arguments);
}

void add_recorded_entry(struct recorded_thread *thread, uint64_t number, uint32_t hash) {
    struct buffer *event = recording_event(&thread->recorder->writer);
    buffer_uleb128(event, number);
    put_number(event, hash, sizeof hash);
    add_recorded_event(thread, QUIPU_EVENT_ENTRY);
    thread->is_entry = true;
}

void record_entry(struct recorded_thread *thread) {
    record_mark(thread);
    add_recorded_entry(thread, thread->call.number, thread->call_hash);
}

bool is_made_since_begin(const struct recorder *recorder, int64_t seconds, uint32_t nanoseconds) {
    const struct timespec *began = &recorder->began;
    return seconds > began->tv_sec ||
           (seconds == began->tv_sec && nanoseconds >= (uint32_t)began->tv_nsec);
}

/* ---- where a thread is ---- */

const char *read_path(struct recorded_thread *thread, uint64_t address) {
    char text[PATH_MAX] = "";
    struct iovec here = {text, sizeof text - 1}, there = {(void *)address, sizeof text - 1};
    if (process_vm_readv(thread->number, &here, 1, &there, 1, 0) <= 0) {
        here.iov_len = there.iov_len = 4096 - address % 4096; /* up to the end of its page */
        if (here.iov_len >= sizeof text ||
            process_vm_readv(thread->number, &here, 1, &there, 1, 0) <= 0)
            return "";
    }
    return arena_copy(&thread->effects.arena, text, strlen(text));
}

void set_boundary(struct recorded_thread *thread, bool before_call) {
    thread->at_event = !before_call;
    thread->has_boundary = get_general_registers(thread->number, &thread->boundary);
    thread->before_call = before_call;
}

void keep_entry(struct recorded_thread *thread, const struct user_regs_struct *registers) {
    if (!thread->recorder->last.seconds)
        return;
    if (!thread->entry)
        thread->entry = calloc(1, sizeof *thread->entry);
    CHECK(thread->entry);
    get_registers(thread->number, thread->entry); /* unless it was killed */
    thread->entry->general = *registers;
}

void release_held(struct recorded_thread *thread) {
    if (thread->held)
        ptrace(PTRACE_SETSIGMASK, thread->number, sizeof thread->mask, &thread->mask);
    thread->held = false;
}

bool is_ready(const struct recorded_thread *thread) {
    return thread->is_pending || (thread->stands && !thread->waits && !thread->is_stopped);
}

bool others_are_ready(const struct recorded_thread *thread) {
    const struct group *group = thread->process->group;
    if (group->threads == 1)
        return false;
    for (const struct recorded_thread *at = thread->recorder->threads; at; at = at->next)
        if (at != thread && at->process->group == group && is_ready(at))
            return true;
    return false;
}

/* ---- output ---- */

void end_writing(struct recorder *recorder) {
    recorder->writing = NULL;
    for (struct recorded_thread *at = recorder->threads; at; at = at->next)
        if (at->waits) {
            at->waits = false;
            make_fresh(recorder, at->process->group);
        }
}
