/* free_memory.h: addresses of a process at which nothing is mapped. */
#ifndef QUIPU_TRACEE_FREE_MEMORY_H
#define QUIPU_TRACEE_FREE_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Calls CHOOSE for each range [START, END) of PROCESS between FIRST and LAST at which nothing is
 * mapped, in order, with ADDRESS, until it returns an address. Returns that, or 0. */
uint64_t find_free_memory(pid_t process, uint64_t first, uint64_t last,
                          uint64_t (*choose)(uint64_t start, uint64_t end, uint64_t address),
                          uint64_t address);

#endif
