/* thread.h: where a stopped thread stands. */
#ifndef QUIPU_X86_THREAD_H
#define QUIPU_X86_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sets ADDRESS to that of the instruction that THREAD, which we trace and which stands, will
 * complete next.  A system call that was broken off and will be made again is not completed.
 * Returns false, with errno set, where the kernel does not tell. */
bool thread_address(pid_t thread, uint64_t *address);

/* What counts the turns of instructions that repeat: %rcx, of THREAD the same way, and its number
 * in debug information. */
bool thread_turns(pid_t thread, uint64_t *rcx);
enum {
    DWARF_RCX = 2
};

/* Sets ADDRESS to the thread pointer of THREAD, which is stopped: thread-local variables are at
 * fixed distances from it. */
bool thread_pointer(pid_t thread, uint64_t *address);

/* THREAD was interrupted by nothing but our stop, and goes on: a system call that the kernel has
 * broken off for that, and would not make again by itself, will be made again. */
void repeat_broken_call(pid_t thread);

#endif
