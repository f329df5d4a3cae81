/* turn.c: which thread of a serial run runs next, and how long; see turn.h.
 *
 * The threads run in the order of their numbers for the kernel, as long as they can. A turn ends
 * with a number of ticks. Before another thread gets the turn, those in system calls either sleep
 * or have come back. So the order depends on the program, not on the machine's speed and load.
 *
 * Not perfect: a thread that stays in code without ticks is stopped after some processor time; what
 * comes from outside of the process comes at its own time. */
#include "tracee/turn.h"

#include "util/clock.h"
#include "util/process.h"

#include <time.h>

/* In seconds: the longest turn, of processor time; how long a call may take without sleeping; the
 * first and the longest wait for it. */
static const double turn_most = 0.05, call_most = 0.05, wait_least = 0.00003, wait_most = 0.001;

/* The processor time of all threads. While a thread has the turn, the others only sleep. */
static double processor_seconds(const struct serial *serial) {
    struct timespec time = {0};
    clockid_t clock;
    if (clock_getcpuclockid(serial->run->tracee.process, &clock) == 0)
        clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

bool has_turn(const struct serial *serial) {
    return !serial->turn_ended && processor_seconds(serial) < serial->turn_most;
}

void begin_turn(struct serial *serial) {
    serial->turn_ended = false;
    serial->turn_most = processor_seconds(serial) + turn_most;
}

double turn_end(const struct serial *serial) {
    double left = serial->turn_most - processor_seconds(serial);
    return clock_seconds() + (left > wait_most ? left : wait_most);
}

/* Chooses the thread that runs next: the one behind the last one, by kernel number, or the last one
 * itself while its turn has not ended. */
static struct member *choose(struct serial *serial, bool turn) {
    struct member *next = NULL, *first = NULL;
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

/* Whether MEMBER, which is in a system call, has come back or sleeps there. */
static bool is_settled(struct serial *serial, struct member *member, double until) {
    double wait = wait_least;
    while (!has_stopped(member)) {
        if (is_asleep(serial->run->tracee.process, member->self.process) || clock_seconds() > until)
            return true;
        wait_for_change(wait);
        wait = wait < wait_most ? 2 * wait : wait;
    }
    return false;
}

/* Returns whether there is nothing to handle first. */
static bool settle(struct serial *serial) {
    double until = clock_seconds() + call_most;
    bool settled = true;
    for (size_t i = 0; i < serial->members.count; i++) {
        struct member *member = &serial->members.data[i];
        if (member->state == MEMBER_AWAY && !member->is_pending)
            settled &= is_settled(serial, member, until);
    }
    return settled;
}

struct member *next_in_turn(struct serial *serial) {
    bool turn = has_turn(serial);
    struct member *member = choose(serial, turn);
    if (member && member->self.process == serial->last && turn)
        return member;
    if (!settle(serial))
        return NULL;
    member = choose(serial, turn);
    if (!member)
        return NULL;
    serial->last = member->self.process;
    begin_turn(serial);
    return member;
}
