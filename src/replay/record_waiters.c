/* record_waiters.c: threads that wait in calls inside, and pass the turn to each other; see
 * record.h and format/inside.h.
 *
 * While nobody else is ready, the threads of a process need no recorder to wait for each other: the
 * one that waits gives the turn away, and one whose call has ended takes it. As soon as a thread of
 * the group has stopped, the recorder takes the turn back, and gives it as otherwise. The log has
 * the calls of all threads in their order.
 *
 * Not perfect: not where turns are random, a recording keeps only its last part, or processes
 * share memory. */
#include "replay/record.h"

#include "util/clock.h"
#include "x86/kernel.h"

#include <signal.h>
#include <sys/ptrace.h>

/* Sets the group's turn to that of OWNER, or to none: 0. */
static void set_owner(struct recorder *recorder, struct group *group, pid_t owner) {
    struct recorded_thread *thread = owner ? find_recorded_thread(recorder, owner) : NULL;
    group->turn = thread && thread->process->group == group ? thread : NULL;
    if (!group->turn)
        return;
    thread->waits_inside = false;
    group->until = clock_seconds() + TURN_SECONDS;
}

void take_turn_back(struct recorder *recorder, struct group *group) {
    struct inside *inside = group->inside;
    struct recorded_thread *thread = inside ? recorder->threads : NULL;
    pid_t owner = 0;
    group->inside = NULL;
    while (thread && (thread->process->group != group || thread->state >= RECORD_ENDS ||
                      !inside_take_turn(inside, thread->number, &owner)))
        thread = thread->next; /* it has been killed */
    if (!inside)
        return;
    set_owner(recorder, group, owner);
    if (thread && !owner)
        record_inside(thread);
}

void leave_turn(struct recorder *recorder, struct group *group) {
    struct recorded_thread *thread = recorder->threads;
    while (thread &&
           (thread->process->group != group || !thread->waits_inside || !may_wait_inside(thread)))
        thread = thread->next;
    if (!thread || group->inside)
        return;
    struct inside *inside = &thread->process->inside;
    inside_set_left(inside, thread->number, calls_left(thread));
    inside_give_turn(inside, thread->number, 0, true);
    group->inside = inside->passes ? inside : NULL;
}

/* ---- stops ---- */

bool take_given_turn(struct recorded_thread *thread, int status) {
    const int filtered = (SIGTRAP | PTRACE_EVENT_SECCOMP << 8) << 8 | 0x7f;
    struct group *group = thread->process->group;
    if (status != filtered || thread->state != RECORD_RUNS || group->threads == 1 ||
        inside_stand(&thread->process->inside, thread->number) != QUIPU_GIVES_TURN)
        return false;
    take_turn_back(thread->recorder, group);
    if (group->turn == thread) {
        group->turn = NULL;
        group->last = thread->id;
    }
    if (!group->turn) /* otherwise that one has taken it, and executes */
        record_inside(thread);
    release_held(thread);
    thread->waits_inside = true;
    skip_call(thread->number);
    continue_waiting(thread);
    make_fresh(thread->recorder, group);
    return true;
}

bool record_stand(struct recorded_thread *thread) {
    uint64_t stand =
        thread->state == RECORD_RUNS ? inside_stand(&thread->process->inside, thread->number) : 0;
    if (!stand)
        return false;
    release_held(thread); /* signals may come anywhere while it waits */
    thread->waits_inside = true;
    thread->stands_for_turn = stand != QUIPU_GIVES_TURN;
    skip_call(thread->number);
    return true;
}

bool goes_on_waiting(const struct recorded_thread *thread) {
    return thread->waits_inside && thread->stands && !thread->stands_for_turn &&
           thread->state == RECORD_RUNS;
}

void continue_waiting(struct recorded_thread *thread) {
    int signal = thread->signal;
    thread->signal = 0;
    thread->stands = false;
    ptrace(PTRACE_CONT, thread->number, NULL, (void *)(intptr_t)signal);
}
