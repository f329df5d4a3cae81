/* trap.h: breakpoints in a traced thread. */
#ifndef QUIPU_X86_TRAP_H
#define QUIPU_X86_TRAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    BREAKPOINT_BYTE = 0xcc /* int3 */
};

struct thread_registers {
    uint64_t address, first_argument;
};

/* Sets ADDRESS to that of the breakpoint that has just stopped THREAD.  Returns false where it
 * stopped for another reason, or the kernel does not tell. */
bool trap_address(pid_t thread, uint64_t *address);

/* THREAD goes on at ADDRESS. */
void set_thread_address(pid_t thread, uint64_t address);

/* The first argument of the function at whose first instruction THREAD stands. */
uint64_t first_argument(pid_t thread);

/* Writes the general registers of THREAD to standard output, two in a line. */
void print_registers(pid_t thread);

#endif
