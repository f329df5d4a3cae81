/* thread.h: the next instruction of a stopped thread. */
#ifndef QUIPU_X86_THREAD_H
#define QUIPU_X86_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sets ADDRESS to the address of the next instruction that THREAD will complete. THREAD is traced
 * and stopped. An interrupted system call that will be made again is not complete. Returns false,
 * with errno set, if the kernel does not give the registers. */
bool thread_address(pid_t thread, uint64_t *address);

/* Sets RCX to %rcx of THREAD, which counts the turns of instructions that repeat. Returns as above.
 * DWARF_RCX is its number in debug information. */
bool thread_turns(pid_t thread, uint64_t *rcx);
enum {
    DWARF_RCX = 2
};

/* Sets ADDRESS to the thread pointer of THREAD, which is stopped. Thread-local variables are at
 * fixed distances from it. */
bool read_thread_pointer(pid_t thread, uint64_t *address);

/* Sets ADDRESS to the thread-local memory of a loaded object in THREAD, which is stopped. MODULE is
 * the loader's number of the object, from 1. Returns false if it has none, or none yet. */
bool read_thread_memory(pid_t thread, uint64_t module, uint64_t *address);

/* THREAD was interrupted only by quipu's stop, and will continue. If the kernel has interrupted a
 * system call for that, and would not repeat it by itself, makes it repeat the call. */
void repeat_broken_call(pid_t thread);

#endif
