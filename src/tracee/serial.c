/* serial.c: a run of several threads, one at a time; see serial.h.
 *
 * A thread runs until its turn ends, it waits in a system call, or it yields. Any such order is one
 * that the machine could have chosen. A turn ends with the countdown of the thread's ticks. Code
 * without ticks has none: the turn of a thread that stays in such code ends after some time. A
 * thread that waits for another one in a loop continues once its turn has ended and the other has
 * run.
 *
 * Invariants
 *   - At most one thread is in MEMBER_RUNS, and none while `held`.
 *   - Each thread's debug registers equal `watch` whenever it executes an instruction.
 *
 * Not perfect: a write of the kernel for a waiting thread is seen only when its call has ended. */
#include "tracee/serial.h"

#include "format/event.h"
#include "tracee/turn.h"
#include "util/clock.h"
#include "x86/trap.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    GO_ON = -1, /* the stop is of no interest */
};

/* ---- going on ---- */

static void resume(struct serial *serial, struct member *member, enum member_state state) {
    pid_t thread = member->self.process;
    int signal = member->self.signal;
    const struct watch *watch = &serial->watch;
    if (state == MEMBER_RUNS && member->watch_time != serial->watch_time) {
        if (watch_memory(thread, watch->addresses, watch->sizes, watch->count))
            member->watch_time = serial->watch_time;
        else if (errno != ESRCH) /* the thread may have ended */
            serial->cannot_watch = true;
    }
    member->self.signal = 0;
    member->state = (uint8_t)state;
    ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)signal);
}

/* Gives the turn to a thread, if one can run and no stop has to be handled first. */
static void give_turn(struct serial *serial) {
    struct member *member = serial->held ? NULL : next_in_turn(serial);
    if (member)
        resume(serial, member, MEMBER_RUNS);
}

/* Stops the running thread. If it stops for another reason than our SIGSTOP, that stop is pending.
 */
static void preempt(struct serial *serial) {
    struct member *member = find_in_state(serial, MEMBER_RUNS);
    if (!member)
        return;
    if (!member->stop_asked)
        syscall(SYS_tgkill, serial->run->tracee.process, member->self.process, SIGSTOP);
    member->stop_asked = true;
    member->state = MEMBER_STANDS;
    wait_for(serial, member);
    if (WIFSTOPPED(member->pending) && WSTOPSIG(member->pending) == SIGSTOP &&
        !(member->pending >> 16))
        member->is_pending = member->stop_asked = false;
}

/* ---- stops ---- */

/* A SIGSTOP from quipu that has not arrived yet would end some calls early. So the call is skipped
 * now and made later. */
static int put_off(struct serial *serial, struct member *member) {
    pid_t thread = member->self.process;
    if (!skip_call(thread) || ptrace(PTRACE_SYSCALL, thread, NULL, NULL) != 0)
        return GO_ON;
    wait_for(serial, member);
    if (WIFSTOPPED(member->pending) && WSTOPSIG(member->pending) == CALL_STOP) {
        member->is_pending = false;
        repeat_call(thread, member->self.call.number);
    }
    return GO_ON;
}

static int enter_call(struct serial *serial, struct member *member) {
    if (member->stop_asked)
        return put_off(serial, member);
    if (member->self.call.number == SYS_sched_yield)
        serial->turn_ended = true;
    resume(serial, member, MEMBER_AWAY);
    return GO_ON;
}

bool may_have_written(const struct serial *serial, const struct member *member) {
    for (size_t i = 0; i < serial->watch.count; i++)
        if (may_write(&member->self.call, serial->watch.addresses[i], serial->watch.sizes[i]))
            return true;
    return false;
}

static int leave_call(struct serial *serial, struct member *member) {
    set_countdown(&member->ticks, &member->self.countdown, member->self.process);
    take_written(
        member->self
            .process); /* clears the bits; the look behind the call sees what the kernel wrote */
    member->state = MEMBER_STANDS;
    member->called = may_have_written(serial, member);
    if (member->called)
        preempt(serial);
    return GO_ON;
}

static int add_thread(struct serial *serial, pid_t thread) {
    int status;
    if (!is_thread_of(serial->run->tracee.process, thread)) {
        kill(thread, SIGKILL); /* the search ends here, and ends all processes */
        waitpid(thread, &status, __WALL);
        return STOP_CLONE;
    }
    struct member *member = add_member(serial, thread);
    if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status))
        set_pending(member, GONE);
    return GO_ON;
}

/* All these events happen in a system call. Behind the event the thread continues in the call. */
static int take_event(struct serial *serial, struct member *member,
                      const struct thread_stop *stop) {
    int taken = GO_ON;
    member->state = MEMBER_STANDS;
    if (stop->reason == REASON_EXEC)
        return STOP_PROGRAM;
    if (stop->reason == REASON_VFORK)
        preempt(serial);
    serial->held += stop->reason == REASON_VFORK;
    serial->held -= stop->reason == REASON_VFORK_DONE;
    follow_child(&serial->run->tracee, stop);
    resume(serial, member, MEMBER_AWAY);
    if (stop->reason == REASON_CLONE)
        taken = add_thread(serial, stop->child); /* this may move the members */
    return taken;
}

/* A breakpoint instruction that quipu did not set belongs to the program. */
static void take_breakpoint(struct serial *serial, struct member *member, uint64_t address) {
    pid_t thread = member->self.process;
    bool begins = address == serial->run->thread_hook, ends = address == serial->run->near_hook;
    if (!begins && !ends) {
        member->self.signal = SIGTRAP;
        return;
    }
    if (begins) {
        member->ticks.block = first_argument(thread);
        read_memory(thread, member->ticks.block + QUIPU_EVENT_THREAD, &member->number,
                    sizeof member->number);
        if (member->number > serial->numbered)
            serial->numbered = member->number;
    } else {
        end_countdown(&member->ticks, &member->self.countdown, thread);
        serial->turn_ended = true;
    }
    member->self.countdown.at_hook = true;
    member->self.countdown.distance = TURN_TICKS;
}

/* The thread is about to get a signal, from quipu or from elsewhere. A process that a signal has
 * stopped continues, too. */
static void take_signal(struct member *member, const struct thread_stop *stop) {
    if (stop->signal == SIGSTOP && member->stop_asked)
        member->stop_asked = false;
    else if (stop->reason != REASON_JOB)
        member->self.signal = stop->signal;
}

static int take_stop(struct serial *serial, struct member *member, int status) {
    struct thread_stop stop = read_stop(member->self.process, status, &member->self.call);
    member->self.call = stop.call;
    member->self.written = stop.written;
    switch (stop.reason) {
    case REASON_CALL_ENTRY:
        return enter_call(serial, member);
    case REASON_CALL_EXIT:
        return leave_call(serial, member);
    case REASON_CALL:
        return GO_ON;
    case REASON_FORK:
    case REASON_VFORK:
    case REASON_VFORK_DONE:
    case REASON_CLONE:
    case REASON_EXEC:
    case REASON_EXIT:
    case REASON_EVENT:
        return take_event(serial, member, &stop);
    default:
        break;
    }
    member->state = MEMBER_STANDS;
    if (stop.reason == REASON_BREAKPOINT)
        take_breakpoint(serial, member, stop.address);
    else if (stop.reason == REASON_WRITE || stop.reason == REASON_STEP)
        return STOP_WRITE; /* the caller reads `written` */
    else
        take_signal(member, &stop);
    return GO_ON;
}

/* Returns STOP_ENDED if no thread is left. */
static int take_end(struct serial *serial, struct member *member, int status) {
    struct run *run = serial->run;
    if (member->self.process == run->tracee.process && status != GONE) {
        run->status = status;
        run->tracee.ended = true;
    }
    remove_member(serial, member);
    return run->tracee.ended || serial->members.count == 0 ? STOP_ENDED : GO_ON;
}

static int take_status(struct serial *serial, struct member *member) {
    int status = member->pending;
    member->is_pending = false;
    return status == GONE || !WIFSTOPPED(status) ? take_end(serial, member, status)
                                                 : take_stop(serial, member, status);
}

static struct member *find_called(struct serial *serial) {
    for (size_t i = 0; i < serial->members.count; i++)
        if (serial->members.data[i].called)
            return &serial->members.data[i];
    return NULL;
}

/* Returns the next thread that has stopped or ended. While no other thread can run, the running one
 * gets another turn. NULL: the next turn has to be given to a thread. */
static struct member *wait_for_stop(struct serial *serial) {
    const double long_time = 1;
    for (;;) {
        bool runs = find_in_state(serial, MEMBER_RUNS);
        struct member *member =
            wait_until(serial, runs ? turn_end(serial) : clock_seconds() + long_time);
        if (member || !runs)
            return member;
        if (has_turn(serial))
            continue;
        if (find_in_state(serial, MEMBER_STANDS)) {
            preempt(serial);
            return NULL;
        }
        begin_turn(serial);
    }
}

enum stop go_on_serial(struct serial *serial, struct member **which) {
    for (;;) {
        struct member *member = find_pending(serial, false);
        if (!member && (*which = find_called(serial))) {
            (*which)->called = false;
            return STOP_CALL;
        }
        if (!member && !find_in_state(serial, MEMBER_RUNS))
            give_turn(serial);
        if (!member)
            member = wait_for_stop(serial);
        int stop = member ? take_status(serial, member) : GO_ON;
        if (stop == GO_ON)
            continue;
        *which = stop == STOP_ENDED ? NULL : member;
        return (enum stop)stop;
    }
}

/* ---- begin and end ---- */

void watch_all(struct serial *serial, const struct watch *watch) {
    serial->watch = *watch;
    serial->watch_time++;
}

bool begin_serial(struct serial *serial, struct run *run) {
    unsigned long child = 0;
    sigset_t children;
    *serial = (struct serial){.run = run, .numbered = 1};
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    struct member *first = add_member(serial, run->first.process);
    first->self = run->first;
    first->ticks = run->ticks;
    first->number = 1;
    ptrace(PTRACE_GETEVENTMSG, first->self.process, NULL, &child);
    stop_within(&first->ticks, &first->self.countdown, first->self.process, TURN_TICKS);
    if (add_thread(serial, (pid_t)child) != GO_ON)
        return false;
    resume(serial, &serial->members.data[0], MEMBER_AWAY);
    return true;
}

static bool is_gone(const struct member *member) {
    return member->is_pending && (member->pending == GONE || !WIFSTOPPED(member->pending));
}

/* Such a thread does not stop any more. */
static bool is_ending(const struct member *member) {
    return member->state == MEMBER_AWAY && member->self.call.number == SYS_exit;
}

void end_serial(struct serial *serial) {
    struct tracee *tracee = &serial->run->tracee;
    sigset_t children;
    tracee->threads.count = 0;
    for (size_t i = 0; i < serial->members.count; i++) {
        const struct member *member = &serial->members.data[i];
        struct tracee_thread thread = {.thread = member->self.process,
                                       .running = member->state != MEMBER_STANDS,
                                       .stop_asked = member->stop_asked,
                                       .ending = is_ending(member),
                                       .pending = member->is_pending ? member->pending : 0};
        if (is_gone(member))
            continue;
        vector_push(&tracee->arena, &tracee->threads, thread);
    }
    if (!tracee->ended)
        stop_tracee(tracee);
    for (size_t i = 0; i < tracee->threads.count; i++)
        watch_memory(tracee->threads.data[i].thread, NULL, NULL, 0);
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &children, NULL);
    arena_release(&serial->arena);
}
