/* record_continue.c: continues threads that have the turn, so that they make calls inside; see
 * record.h.
 *
 * The memory inside is told before which calls it leaves to the recorder, and whether threads pass
 * the turn to each other: only while nobody else is ready. */
#include "replay/record.h"

#include <sys/ptrace.h>

bool stops_by_filter(const struct recorded_process *process) {
    return process->recorder->filters && !process->filters;
}

static bool may_pass(const struct recorded_thread *thread) {
    const struct recorded_process *process = thread->process;
    const struct recorder *recorder = thread->recorder;
    return process->group->threads > 1 && process->group->threads == process->threads &&
           process->inside.is_mapped && !process->inside.is_shared && recorder->filters &&
           !process->filters && !recorder->shuffle.on && !recorder->last.seconds;
}

bool may_wait_inside(const struct recorded_thread *thread) {
    return may_pass(thread) && !thread->held && thread->state == RECORD_RUNS;
}

/* The thread is about to continue with the turn. */
static void give_turn(struct recorded_thread *thread) {
    struct recorded_process *process = thread->process;
    bool waits = thread->waits_inside;
    thread->waits_inside = thread->stands_for_turn = false;
    if (!waits && !may_pass(thread))
        return;
    bool passes = may_wait_inside(thread) && !others_are_ready(thread);
    inside_give_turn(&process->inside, thread->number, thread->number, passes);
    process->group->inside = process->inside.passes ? &process->inside : NULL;
}

/* Whether the thread is within a call, of which the end is to be seen. */
static bool is_within_call(const struct recorded_thread *thread) {
    return thread->state == RECORD_IN_CALL || thread->state == RECORD_TURNED_BACK ||
           thread->state == RECORD_EXECUTES;
}

uint32_t calls_left(const struct recorded_thread *thread) {
    const struct recorded_process *process = thread->process;
    const struct recorder *recorder = thread->recorder;
    bool all = thread->held || thread->state == RECORD_INTERRUPTED || process->inside.is_shared ||
               !stops_by_filter(process) || (recorder->shuffle.on && process->group->threads > 1);
    return (all ? QUIPU_LEFT_ALL : 0u) | (process->group->threads > 1 ? QUIPU_LEFT_WAITS : 0u) |
           (may_wait_inside(thread) ? QUIPU_TURN_PASSES : 0u) |
           (recorder->shared.count ? QUIPU_LEFT_WRITES : 0u);
}

void continue_thread(struct recorded_thread *thread, int signal) {
    struct recorded_process *process = thread->process;
    bool stops = !stops_by_filter(process) || is_within_call(thread);
    if (process->inside.is_mapped && thread->state < RECORD_LEAVES) {
        inside_set_left(&process->inside, thread->number, calls_left(thread));
        if (!process->inside.is_shared) /* others may have the memory, and other descriptors */
            inside_set_streams(&process->inside, thread->number, process->streams.leads_to);
        give_turn(thread);
    }
    ptrace(stops ? PTRACE_SYSCALL : PTRACE_CONT, thread->number, NULL, (void *)(intptr_t)signal);
}

void end_inside(struct recorded_thread *thread) {
    inside_set_left(&thread->process->inside, thread->number, calls_left(thread) | QUIPU_LEFT_ALL);
}
