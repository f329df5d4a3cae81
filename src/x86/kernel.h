/* kernel.h: system calls of a traced thread, and the debug registers that watch its memory. */
#ifndef QUIPU_X86_KERNEL_H
#define QUIPU_X86_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    WATCHES_MAX = 4 /* debug registers with an address */
};

/* THREAD is stopped before a system call. The kernel will not make it. */
bool skip_call(pid_t thread);

/* THREAD is stopped behind a system call, which returns RESULT. */
bool set_call_result(pid_t thread, int64_t result);

/* THREAD is stopped behind a call that skip_call has removed. It will make call NUMBER again. */
bool repeat_call(pid_t thread, uint64_t number);

/* THREAD is stopped at or behind a system call. Returns the address of the instruction that made
 * it. */
uint64_t call_site(pid_t thread);

/* Whether the two bytes at CODE are a system call. */
bool is_system_call(const uint8_t *code);

/* Makes THREAD, which is stopped anywhere but before a system call, make one at SITE, the address
 * of such an instruction. It takes no signal meanwhile, and is then stopped as before. Returns the
 * call's result, or -EIO if THREAD has ended. If CHILD is not NULL, sets it to the process or
 * thread that the call has made, which is stopped at the same address, or 0. */
int64_t inject_call(pid_t thread, uint64_t site, long number, const uint64_t arguments[6],
                    pid_t *child);

/* Returns the address at which THREAD continues. */
uint64_t next_instruction(pid_t thread);

/* THREAD, which was single-stepped, continues without steps. If it has pushed and popped its flags
 * meanwhile, the kernel believes that the program itself requested the steps. */
void end_steps(pid_t thread);

/* Hides the kernel's own code (vDSO) from the program that THREAD has just started. The program
 * then reads the clock by system calls. Returns false on failure. */
bool hide_kernel_code(pid_t thread);

/* Whether debug registers stop a program on this machine. Some virtual machines accept writes to
 * them without effect. A child process tries it. $QUIPU_DEBUG_REGISTERS=0: no. */
bool has_debug_registers(void);

/* Makes THREAD stop behind each instruction that writes one of the COUNT objects. Each has 1, 2, 4
 * or 8 bytes, at a multiple of its size. Returns false if there are no such registers. */
bool watch_memory(pid_t thread, const uint64_t *addresses, const uint32_t *sizes, size_t count);

/* The same; bit n of READS: also behind each one that reads the n-th object. */
bool watch_accesses(pid_t thread, const uint64_t *addresses, const uint32_t *sizes, size_t count,
                    unsigned reads);

/* Returns which of the objects were written since the last call: bit n is the n-th. At a stop
 * behind such an instruction, at least one was. The kernel's own writes cause no stop. */
unsigned take_written(pid_t thread);

#endif
