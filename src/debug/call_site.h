/* call_site.h: where a process can be made to make a system call. */
#ifndef QUIPU_DEBUG_CALL_SITE_H
#define QUIPU_DEBUG_CALL_SITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether there is an instruction at ADDRESS of PROCESS that makes a system call. */
bool is_call_site(pid_t process, uint64_t address);

/* Returns the address of one, wherever it is mapped as code, or 0. */
uint64_t find_call_site(pid_t process);

#endif
