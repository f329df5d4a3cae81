/* memory_hash.h: a hash of all memory that a process may write. */
#ifndef QUIPU_TRACEE_MEMORY_HASH_H
#define QUIPU_TRACEE_MEMORY_HASH_H

#include "util/address_range.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sets HASH to that of all memory that PROCESS may write, without LEFT_OUT. Pages of zeros do not
 * count, whether the process has them or not. Returns false if its mappings cannot be read. */
bool hash_writable_memory(pid_t process, const address_range_list *left_out, uint64_t *hash);

#endif
