/* memory_bound.h: how much memory checkpoints take. */
#ifndef QUIPU_DEBUG_MEMORY_BOUND_H
#define QUIPU_DEBUG_MEMORY_BOUND_H

#include <stdint.h>
#include <sys/types.h>

/* Returns the number of bytes that PROCESS has in memory; and its share, where those that several
 * processes have are divided among them. 0: not known. */
uint64_t resident_memory(pid_t process);
uint64_t shared_out_memory(pid_t process);

/* Returns what checkpoints may take where the user names no size: half of this machine's memory. */
uint64_t usual_memory(void);

#endif
