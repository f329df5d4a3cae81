/* record_turn.c: which thread of a group executes; see record.h.
 *
 * A thread keeps the turn until it waits in a system call, yields, or makes a call when its time is
 * over. It gives the turn away in two places only: within a call, which then has an event of its
 * own for its entry, and behind an event. So the order of the events is all that a replay needs.
 * Within a call that changes the mappings, or makes a process, it does not give it away, however
 * long that takes: what others then did would come in front of it in a replay.
 *
 * The output of all processes is written by one at a time, so that its order is that of the events.
 *
 * A thread that waits for others in a loop, and makes no call there, is found in that:
 * record_loop.c.
 *
 * Not perfect: where such a loop changes something, the thread waits in vain. */
#include "replay/record.h"

#include "util/clock.h"
#include "util/process.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum {
    PAUSE = 20000 /* nanoseconds between two looks at a thread that is in a call */
};

/* How long a call may take without sleeping, in seconds. */
static const double call_most = 0.005;

/* ---- output ---- */

/* Whether another thread writes output just now. One that sleeps there writes later. */
static bool must_wait(const struct recorded_thread *thread) {
    const struct recorded_thread *other = thread->recorder->writing;
    return other && other != thread && !is_asleep(other->process->number, other->number);
}

/* ---- going on ---- */

static void resume(struct recorded_thread *thread) {
    const struct group *group = thread->process->group;
    int signal = thread->signal;
    bool writes = thread->state == RECORD_IN_CALL && thread->stream;
    if (writes && must_wait(thread)) {
        thread->waits = true;
        return;
    }
    if (writes)
        thread->recorder->writing = thread;
    thread->signal = 0;
    thread->stands = thread->at_event = thread->yields = false;
    thread->next_look = 0;
    if (group->ticks && thread->state == RECORD_RUNS && !thread->held && others_are_ready(thread))
        begin_tick(thread, group->ticks);
    leave_boundary(thread);
    continue_thread(thread, signal);
}

/* Whether a call is made to wait. */
static bool is_made_to_wait(const struct system_call *call) {
    static const struct {
        uint16_t number;
        uint8_t argument; /* the call waits unless this one ... */
        uint64_t value;   /* ... is this, in its low 32 bits */
    } calls[] = {
        {SYS_nanosleep, 0, 0},       {SYS_clock_nanosleep, 2, 0}, {SYS_pause, 0, UINT64_MAX},
        {SYS_rt_sigsuspend, 0, 0},   {SYS_rt_sigtimedwait, 0, 0}, {SYS_poll, 2, 0},
        {SYS_ppoll, 0, UINT64_MAX},  {SYS_select, 0, UINT64_MAX}, {SYS_pselect6, 0, UINT64_MAX},
        {SYS_epoll_wait, 3, 0},      {SYS_epoll_pwait, 3, 0},     {SYS_wait4, 2, WNOHANG},
        {SYS_waitid, 0, UINT64_MAX},
    };
    uint64_t futex = call->arguments[1] & FUTEX_CMD_MASK;
    if (call->number == SYS_futex)
        return futex == FUTEX_WAIT || futex == FUTEX_WAIT_BITSET;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == call->number)
            return (uint32_t)call->arguments[calls[i].argument] != calls[i].value;
    return false;
}

/* Whether THREAD, which is in a system call, stops again without sleeping there. If so, its status
 * is pending. Where it sleeps anyway, nobody waits to see that: it executes nothing more. */
static bool comes_back(struct recorded_thread *thread) {
    const struct timespec pause = {0, PAUSE};
    double until = clock_seconds() + call_most;
    if (thread->vforks || thread->was_tried || is_made_to_wait(&thread->call))
        return false;
    for (bool first = true;; first = false) {
        int status;
        if (first)
            sched_yield();
        else
            nanosleep(&pause, NULL);
        pid_t stopped = poll_status(thread, &status);
        if (stopped == thread->number) {
            keep_pending(thread, status);
            return true;
        }
        if (stopped < 0 || is_asleep(thread->process->number, thread->number) ||
            clock_seconds() > until)
            return false;
    }
}

/* Whether the thread is in a call that changes which memory there is, or copies all of it for a new
 * process. Others must not execute meanwhile: in a replay that is done at the call's own event. */
static bool changes_memory(const struct recorded_thread *thread) {
    if (thread->state != RECORD_IN_CALL)
        return false;
    uint8_t repeats = thread->effects.row->repeats;
    bool makes = repeats == QUIPU_CALL_APART && !thread->is_entry; /* and not yet told */
    return repeats == QUIPU_CALL_AGAIN || repeats == QUIPU_CALL_MAPS ||
           (makes && !is_program_call(thread->call.number));
}

/* Whether the thread, which does not come back soon, keeps the turn. */
static bool keeps_turn(const struct recorded_thread *thread) {
    return changes_memory(thread) && !is_asleep(thread->process->number, thread->number);
}

/* ---- turns ---- */

static bool is_over(const struct recorded_thread *thread) {
    bool over = thread->yields || clock_seconds() > thread->process->group->until;
    return thread->at_event && thread->process->group->threads > 1 && over &&
           others_are_ready(thread);
}

static void end_turn(struct group *group) {
    struct recorded_thread *thread = group->turn;
    bool in_call = thread->state == RECORD_IN_CALL || thread->state == RECORD_INTERRUPTED;
    if (in_call && !thread->is_entry && group->threads > 1)
        record_entry(thread);
    thread->yields = false;
    group->last = thread->id;
    group->turn = NULL;
}

/* The thread needs no turn to go on. */
static void wait_on(struct recorded_thread *thread) {
    continue_waiting(thread);
    end_turn(thread->process->group);
}

/* Gives the turn to the thread behind the last one, in the order in which they began. Returns NULL
 * if none can run. */
static struct recorded_thread *begin_turn(struct recorder *recorder, struct group *group) {
    if (recorder->shuffle.on && group->threads > 1) {
        shuffle_turn(recorder, group);
        return group->turn = shuffle_choose(recorder, group);
    }
    struct recorded_thread *next = NULL, *first = NULL;
    for (struct recorded_thread *at = recorder->threads; at; at = at->next) {
        if (at->process->group != group || !is_ready(at))
            continue;
        if (at->id > group->last && (!next || at->id < next->id))
            next = at;
        if (!first || at->id < first->id)
            first = at;
    }
    group->turn = next ? next : first;
    if (group->turn && group->threads > 1)
        group->until = clock_seconds() + TURN_SECONDS;
    return group->turn;
}

/* Continues what can run in GROUP, up to a thread of which the status must be handled first.
 * Returns that, or NULL if there is none. */
static struct recorded_thread *run_group(struct recorder *recorder, struct group *group) {
    take_turn_back(recorder, group);
    while (group->threads) {
        struct recorded_thread *thread = group->turn ? group->turn : begin_turn(recorder, group);
        if (!thread)
            break;
        if (thread->is_pending)
            return thread;
        if (thread->waits || thread->is_stopped || thread->state >= RECORD_ENDS ||
            (thread->stands && is_over(thread)))
            end_turn(group);
        else if (goes_on_waiting(thread))
            wait_on(thread);
        else if (thread->stands)
            resume(thread);
        else if (thread->state != RECORD_IN_CALL || !others_are_ready(thread))
            break;
        else if (!comes_back(thread)) {
            if (keeps_turn(thread)) /* look_at_turns comes again */
                break;
            end_turn(group);
        }
    }
    if (!group->turn)
        leave_turn(recorder, group);
    return NULL;
}

/* Releases the threads that are no longer recorded, and the groups that have none. */
static void sweep(struct recorder *recorder) {
    for (struct recorded_thread *at = recorder->threads, *next; at; at = next) {
        next = at->next;
        if (at->state == RECORD_LEFT)
            remove_recorded_thread(at);
    }
    struct group **link = &recorder->groups;
    while (*link) {
        struct group *group = *link;
        if (group->threads) {
            link = &group->next;
        } else {
            *link = group->next;
            free(group);
        }
    }
}

struct recorded_thread *run_groups(struct recorder *recorder) {
    while (recorder->has_fresh) {
        recorder->has_fresh = false;
        sweep(recorder);
        for (struct group *group = recorder->groups; group; group = group->next) {
            struct recorded_thread *thread = group->is_fresh ? run_group(recorder, group) : NULL;
            if (thread) { /* its group stays fresh */
                recorder->has_fresh = true;
                return thread;
            }
            group->is_fresh = false;
        }
    }
    return NULL;
}

void take_status(struct recorded_thread *thread, int status) {
    if (take_given_turn(thread, status))
        return;
    keep_pending(thread, status);
    make_fresh(thread->recorder, thread->process->group);
}

bool keeps_waiting(const struct recorded_thread *thread) {
    return thread->process->group->turn == thread && !thread->stands && !thread->is_pending &&
           thread->state == RECORD_RUNS && others_are_ready(thread);
}

void look_at_turns(struct recorder *recorder) {
    for (struct group *group = recorder->groups; group; group = group->next)
        if (group->turn && changes_memory(group->turn))
            make_fresh(recorder, group);
}

void look_at_streams(struct recorder *recorder) {
    for (struct recorded_thread *at = recorder->threads; at; at = at->next)
        if (at->waits && !must_wait(at)) {
            at->waits = false;
            make_fresh(recorder, at->process->group);
        }
}
