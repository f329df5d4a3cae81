/* kernel.h: system calls of a traced thread, and the debug registers that watch memory for it. */
#ifndef QUIPU_X86_KERNEL_H
#define QUIPU_X86_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    WATCHES_MAX = 4 /* debug registers with an address */
};

/* THREAD stands in front of a system call: the kernel will not make it. */
bool skip_call(pid_t thread);

/* THREAD stands behind a system call: it gets RESULT. */
bool set_call_result(pid_t thread, int64_t result);

/* THREAD stands behind a call that skip_call has taken away: it will make call NUMBER again. */
bool repeat_call(pid_t thread, uint64_t number);

/* THREAD stands at or behind a system call: the address of the instruction that made it. */
uint64_t call_site(pid_t thread);

/* Whether the two bytes at CODE make a system call. */
bool is_system_call(const uint8_t *code);

/* Lets THREAD, which stands anywhere but in front of a system call, make one at SITE, an address of
 * such an instruction, with no signal taken meanwhile.  It stands then as before.  Returns the
 * call's result, and in CHILD, where that is not NULL, the process that it made, which stands at
 * the same place; -EIO where THREAD has ended. */
int64_t inject_call(pid_t thread, uint64_t site, long number, const uint64_t arguments[6],
                    pid_t *child);

/* The address at which THREAD goes on. */
uint64_t next_instruction(pid_t thread);

/* THREAD, which was single-stepped, goes on without that.  Where it has pushed its flags meanwhile,
 * and popped them, the kernel takes the steps for its own. */
void end_steps(pid_t thread);

/* Hides the kernel's own code (vDSO) from the program that THREAD has just begun to be: then the
 * clock is asked for by system calls. */
bool hide_kernel_code(pid_t thread);

/* Whether debug registers stop a program on this machine: some virtual machines take what is
 * written to them, and nothing happens.  A child process tries it.  $QUIPU_DEBUG_REGISTERS=0: no.
 */
bool has_debug_registers(void);

/* Has THREAD stop behind each instruction that writes one of the COUNT objects, each of 1, 2, 4 or
 * 8 bytes on a multiple of its size.  Returns false where there are no such registers. */
bool watch_memory(pid_t thread, const uint64_t *addresses, const uint32_t *sizes, size_t count);

/* Which of the objects have been written since this was asked last: bit n is the n-th.  A stop
 * behind such an instruction has one at least; the kernel's own writes stop nothing. */
unsigned take_written(pid_t thread);

#endif
