/* affinity.h: binds the program under our control, and quipu itself, to one processor.
 *
 * At each stop the program wakes us, and then we wake the program. On one processor that is a
 * switch of context. On two, each wake-up ends the sleep of the other processor, which takes three
 * times as long in a virtual machine.
 *
 * The program does not notice this. Its own affinity is restored around each system call that
 * reports it or passes it on, and for good once the program has opened a file that shows it. */
#ifndef QUIPU_TRACEE_AFFINITY_H
#define QUIPU_TRACEE_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct affinity {
    cpu_set_t ours, its; /* affinity of quipu and of the program, while not bound */
    bool bound;          /* both are on one processor */
    bool given_up;       /* no more attempts: the program could notice, or it cannot be done */
};

/* Binds PROCESS, and what it forks from now on, to our present processor, or to another one that
 * both may use. If there is none, nothing is bound. */
void bind_affinity(struct affinity *affinity, pid_t process);

/* Called when PROCESS is stopped in front of its system call NUMBER, or behind it, with RESULT. */
void bind_before_call(struct affinity *affinity, pid_t process, uint64_t number);
void bind_behind_call(struct affinity *affinity, pid_t process, uint64_t number, int64_t result);

/* Restores the affinity of PROCESS, which is bound or is a copy of a bound process. */
void restore_affinity(const struct affinity *affinity, pid_t process);

/* Restores our own affinity. */
void restore_our_affinity(const struct affinity *affinity);

#endif
