/* record_child.c: threads and processes that a recorded thread makes; see record.h.
 *
 * The new thread's first event is recorded while the other one is in its call. It has the registers
 * and the memory that the thread begins with, so a replay need not know how it was made.
 *
 * Not perfect: a process that shares its parent's descriptors and not its memory is taken to have a
 * copy of them. One whose maker is killed before it could tell of it is killed, too, as nothing is
 * known of it. */
#include "replay/record.h"

#include "x86/clone_call.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

void keep_early(struct recorder *recorder, pid_t child, int status) {
    for (size_t i = 0; i < recorder->early.count; i++)
        if (recorder->early.data[i].number == child) { /* it has been killed since */
            recorder->early.data[i].status = status;
            return;
        }
    vector_push(recorder->arena, &recorder->early, ((struct early_stop){child, status}));
}

int take_first_status(struct recorder *recorder, pid_t child) {
    int status = 0;
    for (size_t i = 0; i < recorder->early.count; i++)
        if (recorder->early.data[i].number == child) {
            status = recorder->early.data[i].status;
            recorder->early.data[i] = recorder->early.data[--recorder->early.count];
            return status;
        }
    return waitpid(child, &status, __WALL) == child ? status : 0;
}

/* Whether some thread is in a call that makes others, or may be in one, as it is no longer
 * recorded.
 */
static bool has_maker(const struct recorder *recorder) {
    if (recorder->passing.count)
        return true;
    for (const struct recorded_thread *at = recorder->threads; at; at = at->next)
        if (at->state == RECORD_IN_CALL && at->effects.row->repeats == QUIPU_CALL_APART)
            return true;
    return false;
}

void end_orphans(struct recorder *recorder) {
    if (!recorder->early.count || has_maker(recorder))
        return;
    for (size_t i = 0; i < recorder->early.count; i++) {
        const pid_t orphan = recorder->early.data[i].number;
        kill(orphan, SIGKILL);
        ptrace(PTRACE_CONT, orphan, NULL, NULL); /* it stops once more, where it ends */
    }
    recorder->early.count = 0;
}

/* The new process has what its parent has. */
static struct recorded_process *copy_process(struct recorded_process *parent, pid_t child,
                                             bool shares) {
    struct recorded_process *process = add_recorded_process(parent->recorder, child);
    process->affinity = parent->affinity;
    process->streams = parent->streams;
    process->ticks = ticks_of_copy(&parent->ticks);
    process->site = parent->site;
    process->filters = parent->filters;
    inside_copy(&process->arena, &parent->inside, &process->inside);
    process->inside.is_shared = shares;
    if (!shares)
        inside_forget_places(&process->inside, child);
    parent->inside.is_shared |= shares;
    process->path = arena_copy(&process->arena, parent->path, strlen(parent->path));
    process->shares_pages = parent->shares_pages;
    process->shares_all = shares;
    process->data_end = parent->data_end;
    process->is_undumpable = parent->is_undumpable;
    process->is_static = parent->is_static;
    process->interprets = parent->interprets;
    for (size_t i = 0; i < parent->counter_reads.count; i++)
        vector_push(&process->arena, &process->counter_reads, parent->counter_reads.data[i]);
    for (size_t i = 0; i < parent->segments.count; i++)
        vector_push(&process->arena, &process->segments, parent->segments.data[i]);
    for (size_t i = 0; i < parent->shared.count; i++)
        vector_push(&process->arena, &process->shared, parent->shared.data[i]);
    if (shares || parent->shares_pages)
        change_group(process, parent->group);
    return process;
}

static enum quipu_clone_kind kind_of(const struct clone_call *made) {
    if (made->flags & CLONE_THREAD)
        return QUIPU_CLONE_THREAD;
    return made->flags & CLONE_VM ? QUIPU_CLONE_SHARED : QUIPU_CLONE_COPY;
}

static void add_word(struct recorded_thread *thread, pid_t memory, uint64_t address) {
    uint32_t word;
    if (read_memory(memory, address, &word, sizeof word))
        add_recorded_memory(thread, address, &word, sizeof word, NULL);
}

static void record_begin(struct recorded_thread *thread, struct recorded_thread *child,
                         const struct clone_call *made) {
    struct user_regs_struct registers = {0};
    if (thread->is_instead)
        set_call_arguments(child->number, thread->call.arguments);
    get_general_registers(child->number, &registers);
    if (made->flags & CLONE_CHILD_SETTID)
        add_word(child, child->number, made->child_number);
    if (made->flags & CLONE_VM && made->flags & CLONE_PARENT_SETTID)
        add_word(child, child->number, made->parent_number);
    struct buffer *event = recording_event(&thread->recorder->writer);
    buffer_uleb128(event, thread->id);
    put_number(event, thread->call_hash, sizeof thread->call_hash);
    put_number(event, kind_of(made), 1);
    put_number(event, (uint64_t)child->number, sizeof(uint32_t));
    buffer_add(event, &registers, sizeof registers);
    add_recorded_event(child, QUIPU_EVENT_CLONE);
    thread->is_entry = true;
    thread->vforks = made->flags & CLONE_VFORK;
}

/* CHILD, which MAKER has made, gets its name. */
static void name_child(struct recorded_thread *maker, struct recorded_thread *child) {
    bool is_thread = child->process == maker->process;
    bool is_first = strcmp(maker->name, maker->process->name) == 0;
    char separator = is_first ? ':' : '.';
    uint32_t number = is_thread ? ++maker->successors : ++maker->children;
    if (asprintf(&child->name, "%s%c%" PRIu32, maker->name, is_thread ? separator : '/', number) <
        0)
        child->name = NULL;
    if (!is_thread) {
        child->process->name = child->name ? strdup(child->name) : NULL;
        child->stack = maker->stack;
        child->stack_end = maker->stack_end;
    }
    CHECK(child->name && child->process->name);
}

void record_child(struct recorded_thread *thread, pid_t number) {
    struct recorded_process *process = thread->process;
    struct clone_call made;
    int status = take_first_status(thread->recorder, number);
    read_clone_call(thread->number, thread->call.number, thread->call.arguments, &made);
    if (!(made.flags & CLONE_THREAD))
        process = copy_process(process, number, made.flags & CLONE_VM);
    struct recorded_thread *child = add_recorded_thread(process, number);
    name_child(thread, child);
    child->clear = made.flags & CLONE_CHILD_CLEARTID ? made.child_number : 0;
    record_begin(thread, child, &made);
    if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP && !(status >> 16)) {
        child->stands = true;
        set_boundary(child, false);
    } else { /* it was killed at once */
        keep_pending(child, status);
    }
}

void record_child_numbers(struct recorded_thread *thread) {
    struct clone_call made;
    read_clone_call(thread->number, thread->call.number, thread->call.arguments, &made);
    if (made.flags & CLONE_PARENT_SETTID)
        add_word(thread, thread->number, made.parent_number);
    if (made.flags & CLONE_PIDFD)
        add_word(thread, thread->number, made.descriptor);
}

void keep_child_traced(const struct recorded_thread *thread) {
    const uint64_t address = thread->call.arguments[0];
    uint64_t flags;
    if (thread->call.number != SYS_clone3 || !thread->recorder->filters ||
        !read_memory(thread->number, address, &flags, sizeof flags) || !(flags & CLONE_UNTRACED))
        return;
    flags &= ~(uint64_t)CLONE_UNTRACED;
    write_memory(thread->number, address, &flags, sizeof flags);
}

const char *refuse_child(struct recorded_thread *thread) {
    struct clone_call made;
    read_clone_call(thread->number, thread->call.number, thread->call.arguments, &made);
    bool can_change = thread->call.number == SYS_clone; /* record_instead.c */
    return made.flags & CLONE_UNTRACED && !can_change ? "it makes a process that no one may trace"
                                                      : NULL;
}
