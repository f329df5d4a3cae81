/* still_loop.h: whether a thread waits for others in a loop without system calls.
 *
 * Such a loop comes back to the same registers and has changed no memory. So each pass through it
 * is the same moment, and only others can end it. Mellor-Crummey and LeBlanc 1989, section 3: a
 * place in a run is known by its address and what tells its passes apart; here nothing does. */
#ifndef QUIPU_TRACEE_STILL_LOOP_H
#define QUIPU_TRACEE_STILL_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum loop_state {
    LOOP_FOUND,  /* it is in such a loop, and stands there */
    LOOP_NONE,   /* it is not, and stands; it may have executed some instructions */
    LOOP_STOPPED /* it has stopped for another reason or ended: `status`, of wait */
};

/* THREAD is stopped in its program's code, and no other thread changes its memory. Executes
 * instructions, but no system call. */
enum loop_state find_still_loop(pid_t thread, int *status);

/* THREAD stands in such a loop. Goes on to ADDRESS in it, where hash_registers is HASH. */
enum loop_state go_in_loop(pid_t thread, uint64_t address, uint32_t hash, int *status);

#endif
