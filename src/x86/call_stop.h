/* call_stop.h: what a traced thread's system calls and signal handlers look like in its registers
 * and on its stack, and how they are given to it. */
#ifndef QUIPU_X86_CALL_STOP_H
#define QUIPU_X86_CALL_STOP_H

#include "x86/registers.h"

/* Returns a hash of the registers of a thread that is stopped in front of a system call, or with
 * IN_CALL false anywhere else. Flags that the kernel uses are not in it. */
uint32_t hash_registers(const struct user_regs_struct *registers, bool in_call);

/* Whether the registers that a program sees are the same in both, anywhere but in front of a system
 * call. */
bool has_same_registers(const struct user_regs_struct *one, const struct user_regs_struct *other);

/* Whether a thread with these registers runs 64-bit code. */
bool runs_64_bits(const struct user_regs_struct *registers);

/* THREAD is stopped in front of a system call. It goes on behind it, with RESULT, and the call is
 * not made. */
bool answer_call(pid_t thread, int64_t result);

/* THREAD is stopped in front of a system call. It will stop in front of it once more, and make it
 * then, if it is continued by PTRACE_SYSCALL. */
bool enter_call_again(pid_t thread);

/* Sets the arguments of the call in front of which THREAD is stopped. */
bool set_call_arguments(pid_t thread, const uint64_t arguments[6]);

/* The same, and another call is made: NUMBER. */
bool replace_call(pid_t thread, uint64_t number, const uint64_t arguments[6]);

/* THREAD is stopped at the first instruction of a signal handler, with REGISTERS. Returns the size
 * of what the kernel has put on its stack, from the stack pointer upwards, or 0 if that cannot be
 * read. */
size_t signal_frame_size(pid_t thread, const struct user_regs_struct *registers);

/* Makes THREAD, stopped in front of the first instruction of its program, make a call, as
 * inject_call does. The code there is replaced for that time. */
int64_t inject_first_call(pid_t thread, long number, const uint64_t arguments[6]);

#endif
