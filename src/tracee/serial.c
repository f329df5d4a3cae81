/* serial.c: a run of several threads, one at a time; see serial.h.
 *
 * A thread runs until its time slice ends, it waits in a system call, or it yields. Any such order
 * is one that the machine could have chosen. A thread that waits for another one in a loop
 * continues once its slice has ended and the other has run.
 *
 * Invariants
 *   - At most one thread is in MEMBER_RUNS, and none while `held`.
 *   - Each thread's debug registers equal `watch` whenever it executes an instruction.
 *
 * Not perfect: a write of the kernel for a waiting thread is seen only when its call has ended. */
#include "tracee/serial.h"

#include "format/event.h"
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
    GONE = -1,  /* a status: the thread no longer exists */
    NANOSECONDS = 1000000000
};

/* In seconds: a time slice, and how long the other threads wait for a thread's system call. */
static const double slice = 0.005, grace = 0.0003;

static struct member *add_member(struct serial *serial, pid_t thread) {
    struct member member = {.self.process = thread};
    vector_push(&serial->arena, &serial->members, member);
    return &serial->members.data[serial->members.count - 1];
}

static void remove_member(struct serial *serial, struct member *member) {
    *member = serial->members.data[--serial->members.count];
}

static struct member *find_in_state(struct serial *serial, enum member_state state) {
    for (size_t i = 0; i < serial->members.count; i++)
        if (serial->members.data[i].state == state)
            return &serial->members.data[i];
    return NULL;
}

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

/* Chooses the thread that runs next: the one behind the last one, by kernel number, or the last one
 * itself while its slice has not ended. */
static struct member *choose(struct serial *serial) {
    struct member *next = NULL, *first = NULL;
    bool turn = clock_seconds() < serial->slice_end;
    for (size_t i = 0; i < serial->members.count; i++) {
        struct member *member = &serial->members.data[i];
        pid_t thread = member->self.process;
        if (member->state != MEMBER_STANDS)
            continue;
        if (thread == serial->last && turn)
            return member;
        if (thread > serial->last && (!next || thread < next->self.process))
            next = member;
        if (!first || thread < first->self.process)
            first = member;
    }
    return next ? next : first;
}

static void give_turn(struct serial *serial) {
    struct member *member = serial->held ? NULL : choose(serial);
    if (!member)
        return;
    if (member->self.process != serial->last || clock_seconds() >= serial->slice_end)
        serial->slice_end = clock_seconds() + slice;
    serial->last = member->self.process;
    resume(serial, member, MEMBER_RUNS);
}

/* ---- waiting ---- */

static void set_pending(struct member *member, int status) {
    member->is_pending = true;
    member->pending = status;
}

/* Whether MEMBER has stopped or ended. If so, its status is pending. */
static bool has_stopped(struct member *member) {
    int status = 0;
    pid_t got = waitpid(member->self.process, &status, __WALL | WNOHANG);
    if (got == 0)
        return false;
    set_pending(member, got < 0 ? GONE : status);
    if (member->state == MEMBER_RUNS)
        member->state = MEMBER_STANDS;
    return true;
}

static struct member *find_pending(struct serial *serial, bool ask) {
    for (size_t i = 0; i < serial->members.count; i++) {
        struct member *member = &serial->members.data[i];
        if (member->is_pending || (ask && has_stopped(member)))
            return member;
    }
    return NULL;
}

/* Waits up to SECONDS, but at most one second, until some thread stops or ends. SIGCHLD is blocked.
 */
static void wait_for_change(double seconds) {
    struct timespec time = {.tv_nsec =
                                seconds < 1 ? (long)(seconds * NANOSECONDS) : NANOSECONDS - 1};
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigtimedwait(&children, NULL, &time);
}

/* Waits for a stop of some thread, up to UNTIL. */
static struct member *wait_until(struct serial *serial, double until) {
    for (;;) {
        struct member *member = find_pending(serial, true);
        double left = until - clock_seconds();
        if (member || left <= 0)
            return member;
        wait_for_change(left);
    }
}

/* Waits until MEMBER has stopped or ended; its status is then pending. The kernel reports the end
 * of the process's first thread only behind the ends of all others. So their statuses are taken,
 * too. */
static void wait_for(struct serial *serial, struct member *member) {
    while (!member->is_pending && !has_stopped(member)) {
        for (size_t i = 0; i < serial->members.count; i++) {
            struct member *other = &serial->members.data[i];
            if (other != member && !other->is_pending)
                has_stopped(other);
        }
        wait_for_change(1);
    }
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
        serial->slice_end = 0;
    resume(serial, member, MEMBER_AWAY);
    if (member->self.call.number != SYS_futex)
        wait_until(serial, clock_seconds() + grace); /* a stop within this time is pending */
    return GO_ON;
}

bool may_have_written(const struct serial *serial, const struct member *member) {
    for (size_t i = 0; i < serial->watch.count; i++)
        if (may_write(&member->self.call, serial->watch.addresses[i], serial->watch.sizes[i]))
            return true;
    return false;
}

static int leave_call(struct serial *serial, struct member *member) {
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
    if (address == serial->run->thread_hook) {
        member->block = first_argument(thread);
        read_memory(thread, member->block + QUIPU_EVENT_THREAD, &member->number,
                    sizeof member->number);
        if (member->number > serial->numbered)
            serial->numbered = member->number;
    } else if (address != serial->run->near_hook) {
        member->self.signal = SIGTRAP;
    }
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
 * gets another slice. NULL: the next slice has to be given to a thread. */
static struct member *wait_for_stop(struct serial *serial) {
    const double long_time = 1;
    for (;;) {
        bool runs = find_in_state(serial, MEMBER_RUNS);
        struct member *member =
            wait_until(serial, runs ? serial->slice_end : clock_seconds() + long_time);
        if (member || !runs)
            return member;
        if (find_in_state(serial, MEMBER_STANDS)) {
            preempt(serial);
            return NULL;
        }
        serial->slice_end = clock_seconds() + slice;
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
    first->block = run->block;
    first->number = 1;
    ptrace(PTRACE_GETEVENTMSG, first->self.process, NULL, &child);
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
