/* shared_text.h: instructions in memory that a process shares, but may not write itself. */
#ifndef QUIPU_TRACEE_SHARED_TEXT_H
#define QUIPU_TRACEE_SHARED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes SIZE bytes at ADDRESS of PROCESS, which is stopped. Where these are of a mapping of the
 * file SHARED that the process may not write, they are written to the file. Returns false if they
 * cannot be written. */
bool write_text(pid_t process, int shared, uint64_t address, const void *bytes, size_t size);

#endif
