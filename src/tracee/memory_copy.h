/* memory_copy.h: copies of all memory that a process may write, and what has changed since. */
#ifndef QUIPU_TRACEE_MEMORY_COPY_H
#define QUIPU_TRACEE_MEMORY_COPY_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory_range {
    uint64_t address;
    size_t size;
    const uint8_t *bytes;
};

typedef VECTOR(struct memory_range) range_list;

/* Adds to RANGES a copy of the SIZE bytes at ADDRESS, of as many as can be read. Returns false if
 * there are none. */
bool copy_memory_range(struct arena *arena, pid_t process, uint64_t address, uint64_t size,
                       range_list *ranges);

/* Sets RANGES to copies of all pages that PROCESS may write and has. Returns false if that is too
 * much, or cannot be read. */
bool copy_writable_memory(struct arena *arena, pid_t process, range_list *ranges);

/* Adds to RANGES what has changed in the pages of COPY, and pages that PROCESS has had only since
 * then. Returns false if its memory cannot be read. */
bool find_changed_memory(struct arena *arena, pid_t process, const range_list *copy,
                         range_list *ranges);

#endif
