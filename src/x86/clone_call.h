/* clone_call.h: the system calls that make threads and processes. */
#ifndef QUIPU_X86_CLONE_CALL_H
#define QUIPU_X86_CLONE_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct clone_call {
    uint64_t flags;                       /* CLONE_VM, ... */
    uint64_t parent_number, child_number; /* addresses that get the new thread's number */
    uint64_t descriptor;                  /* address that gets its descriptor */
};

/* Whether the system call NUMBER makes a thread or a process. */
bool is_clone_call(uint64_t number);

/* Sets MADE to what the call of THREAD, NUMBER with ARGUMENTS, asks for. What its memory does not
 * tell is 0. */
void read_clone_call(pid_t thread, uint64_t number, const uint64_t arguments[6],
                     struct clone_call *made);

/* THREAD is stopped in front of such a call, and makes another one instead: that makes a process
 * with a copy of its memory, or with the same memory, or a thread. The new one begins behind the
 * call with the registers of THREAD, but for the result; it has the parent that THREAD has. Returns
 * false if THREAD is gone. */
bool replace_clone_call(pid_t thread, uint64_t flags);

#endif
