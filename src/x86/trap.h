/* trap.h: breakpoints in a traced thread. */
#ifndef QUIPU_X86_TRAP_H
#define QUIPU_X86_TRAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    BREAKPOINT_BYTE = 0xcc /* int3 */
};

/* Sets ADDRESS to the address of the breakpoint that has just stopped THREAD. Returns false if it
 * was stopped for another reason, or the kernel does not give the reason. */
bool trap_address(pid_t thread, uint64_t *address);

/* THREAD will continue at ADDRESS. */
void set_thread_address(pid_t thread, uint64_t address);

/* Returns the first argument of the function at whose first instruction THREAD is stopped. */
uint64_t first_argument(pid_t thread);

/* Writes the general registers of THREAD to standard output, two per line. */
void print_registers(pid_t thread);

#endif
