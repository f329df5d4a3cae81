/* backtrace.h: the calls that a stopped thread is in. */
#ifndef QUIPU_SYMBOLS_BACKTRACE_H
#define QUIPU_SYMBOLS_BACKTRACE_H

#include "util/buffer.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Prints the frames of THREAD to standard output. The thread is traced by quipu and is stopped. */
void print_backtrace(pid_t process, pid_t thread);

/* What is known about a process's code. It is kept for many backtraces. */
struct unwinder;

/* Returns NULL, with a warning, if the process's code cannot be read. close_unwinder releases the
 * result. */
struct unwinder *open_unwinder(pid_t process);
void close_unwinder(struct unwinder *unwinder);

/* Appends the frames of THREAD to TEXT, one line each, with INDENT in front. The first frame is
 * that of the function that contains ADDRESS, and its name and line are those of ADDRESS. Appends
 * all frames if there is no such frame, or if ADDRESS is 0. */
void add_backtrace(struct unwinder *unwinder, struct buffer *text, const char *indent, pid_t thread,
                   uint64_t address);

enum {
    CALLERS_MAX = 64
};

struct caller_list {
    uint64_t addresses[CALLERS_MAX];
    size_t count;
};

/* Sets LIST to one address in each frame of THREAD, which is stopped, innermost first: in the
 * present instruction, then in the calls. LIST becomes empty, with a warning, if the process cannot
 * be read. */
void read_callers(pid_t thread, struct caller_list *list);

/* The same by an unwinder of the process, without a warning. */
void read_callers_by(struct unwinder *unwinder, pid_t thread, struct caller_list *list);

/* Returns the begin of the function that contains ADDRESS of PROCESS, also in a shared object.
 * Returns 0 if no symbol shows it. */
uint64_t find_function(pid_t process, uint64_t address);

#endif
