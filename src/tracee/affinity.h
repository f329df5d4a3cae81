/* affinity.h: a program under our control, and we, on one processor.
 *
 * At each of its stops the program wakes us, and then we it.  On one processor that is a switch; on
 * two each is woken from its sleep by the other, which takes three times as long in a virtual
 * machine.
 *
 * The program does not see it: where it may run is as it was around each system call that tells it
 * or hands it on, and for good once the program has opened a file that does. */
#ifndef QUIPU_TRACEE_AFFINITY_H
#define QUIPU_TRACEE_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct affinity {
    cpu_set_t ours, its; /* where we and the program may run, while not bound */
    bool bound;          /* both are on one processor */
    bool given_up;       /* for good: the program could see it, or it cannot be done */
};

/* Binds PROCESS, and what it forks from now on, to the processor on which we are, or another that
 * both may use.  Nothing is bound where there is none. */
void bind_affinity(struct affinity *affinity, pid_t process);

/* PROCESS stands in front of its system call NUMBER, or behind it, with RESULT. */
void bind_before_call(struct affinity *affinity, pid_t process, uint64_t number);
void bind_behind_call(struct affinity *affinity, pid_t process, uint64_t number, int64_t result);

/* Lets PROCESS, which is bound or a copy of what is, run where it might. */
void restore_affinity(const struct affinity *affinity, pid_t process);

/* Lets us run where we might. */
void restore_our_affinity(const struct affinity *affinity);

#endif
