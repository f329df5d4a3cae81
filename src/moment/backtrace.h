/* backtrace.h: the calls that a stopped thread is in. */
#ifndef QUIPU_MOMENT_BACKTRACE_H
#define QUIPU_MOMENT_BACKTRACE_H

#include <sys/types.h>

/* Prints the frames of THREAD, which we trace and which stands, to standard output. */
void print_backtrace(pid_t process, pid_t thread);

#endif
