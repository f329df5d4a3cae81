/* backtrace.h: the calls that a stopped thread is in. */
#ifndef QUIPU_MOMENT_BACKTRACE_H
#define QUIPU_MOMENT_BACKTRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Prints the frames of THREAD, which we trace and which stands, to standard output. */
void print_backtrace(pid_t process, pid_t thread);

enum {
    CALLERS_MAX = 64
};

/* Sets CALLERS to addresses in the instruction at which THREAD, which stands, is and in those that
 * have called what it is in, innermost first.  Returns how many; 0 with a warning where there is no
 * way to tell. */
size_t read_callers(pid_t thread, uint64_t callers[CALLERS_MAX]);

/* Where the function begins that ADDRESS of PROCESS is in, in a library too; 0 where no symbol
 * tells. */
uint64_t find_function(pid_t process, uint64_t address);

#endif
