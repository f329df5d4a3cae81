/* members.h: the threads of a serial run, and waiting for them.
 *
 * A status from wait is pending until the run handles it. */
#ifndef QUIPU_TRACEE_MEMBERS_H
#define QUIPU_TRACEE_MEMBERS_H

#include "tracee/serial.h"

enum {
    GONE = -1 /* a status: the thread no longer exists */
};

/* The members may move. */
struct member *add_member(struct serial *serial, pid_t thread);
void remove_member(struct serial *serial, struct member *member);

struct member *find_in_state(struct serial *serial, enum member_state state);

void set_pending(struct member *member, int status);

/* Whether MEMBER has stopped or ended. If so, its status is pending. */
bool has_stopped(struct member *member);

/* Returns a member whose status is pending, or NULL. ASK: asks the kernel first. */
struct member *find_pending(struct serial *serial, bool ask);

/* Waits up to SECONDS, but at most one second, until some thread stops or ends. SIGCHLD is blocked.
 */
void wait_for_change(double seconds);

/* Waits for a stop of some thread, up to UNTIL. */
struct member *wait_until(struct serial *serial, double until);

/* Waits until MEMBER has stopped or ended; its status is then pending. */
void wait_for(struct serial *serial, struct member *member);

#endif
