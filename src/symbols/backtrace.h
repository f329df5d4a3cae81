/* backtrace.h: the calls that a stopped thread is in. */
#ifndef QUIPU_SYMBOLS_BACKTRACE_H
#define QUIPU_SYMBOLS_BACKTRACE_H

#include "util/buffer.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Prints the frames of THREAD, which we trace and which stands, to standard output. */
void print_backtrace(pid_t process, pid_t thread);

/* What is known of a process's code, to be asked often. */
struct unwinder;

/* NULL, and a warning, where nothing can be known.  Is closed by close_unwinder. */
struct unwinder *open_unwinder(pid_t process);
void close_unwinder(struct unwinder *unwinder);

/* Appends the frames of THREAD to TEXT, a line each behind INDENT, from the one on that is in the
 * function that ADDRESS is in, and is told to be at ADDRESS; all where there is none, or ADDRESS is
 * 0. */
void add_backtrace(struct unwinder *unwinder, struct buffer *text, const char *indent, pid_t thread,
                   uint64_t address);

enum {
    CALLERS_MAX = 64
};

struct caller_list {
    uint64_t addresses[CALLERS_MAX];
    size_t count;
};

/* Sets LIST to addresses in the instruction at which THREAD, which stands, is and in those that
 * have called what it is in, innermost first; to none, with a warning, where there is no way to
 * tell. */
void read_callers(pid_t thread, struct caller_list *list);

/* Where the function begins that ADDRESS of PROCESS is in, in a library too; 0 where no symbol
 * tells. */
uint64_t find_function(pid_t process, uint64_t address);

#endif
