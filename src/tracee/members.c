/* members.c: the threads of a serial run, and waiting for them; see members.h. */
#include "tracee/members.h"

#include "util/clock.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum {
    NANOSECONDS = 1000000000
};

struct member *add_member(struct serial *serial, pid_t thread) {
    struct member member = {.self.process = thread};
    vector_push(&serial->arena, &serial->members, member);
    return &serial->members.data[serial->members.count - 1];
}

void remove_member(struct serial *serial, struct member *member) {
    *member = serial->members.data[--serial->members.count];
}

struct member *find_in_state(struct serial *serial, enum member_state state) {
    for (size_t i = 0; i < serial->members.count; i++)
        if (serial->members.data[i].state == state)
            return &serial->members.data[i];
    return NULL;
}

void set_pending(struct member *member, int status) {
    member->is_pending = true;
    member->pending = status;
}

/* Whether MEMBER has stopped or ended. If so, its status is pending. */
bool has_stopped(struct member *member) {
    int status = 0;
    pid_t got = waitpid(member->self.process, &status, __WALL | WNOHANG);
    if (got == 0)
        return false;
    set_pending(member, got < 0 ? GONE : status);
    if (member->state == MEMBER_RUNS)
        member->state = MEMBER_STANDS;
    return true;
}

struct member *find_pending(struct serial *serial, bool ask) {
    for (size_t i = 0; i < serial->members.count; i++) {
        struct member *member = &serial->members.data[i];
        if (member->is_pending || (ask && has_stopped(member)))
            return member;
    }
    return NULL;
}

/* Waits up to SECONDS, but at most one second, until some thread stops or ends. SIGCHLD is blocked.
 */
void wait_for_change(double seconds) {
    struct timespec time = {.tv_nsec =
                                seconds < 1 ? (long)(seconds * NANOSECONDS) : NANOSECONDS - 1};
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigtimedwait(&children, NULL, &time);
}

/* Waits for a stop of some thread, up to UNTIL. */
struct member *wait_until(struct serial *serial, double until) {
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
void wait_for(struct serial *serial, struct member *member) {
    while (!member->is_pending && !has_stopped(member)) {
        for (size_t i = 0; i < serial->members.count; i++) {
            struct member *other = &serial->members.data[i];
            if (other != member && !other->is_pending)
                has_stopped(other);
        }
        wait_for_change(1);
    }
}
