/* visit.h: sends a stopped thread to a function, and back. */
#ifndef QUIPU_X86_VISIT_H
#define QUIPU_X86_VISIT_H

#include "x86/registers.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The state of the thread. */
struct visit {
    pid_t thread;
    struct registers registers;
    uint64_t mask;
    bool stop_asked; /* a SIGSTOP has arrived meanwhile */
};

/* Sends THREAD to FUNCTION with ARGUMENT, on the stack that ends at STACK. THREAD was seized and is
 * stopped by PTRACE_INTERRUPT. It gets no signal there. The function must not return. Returns
 * false, with errno set, if that is impossible. The thread is then stopped as before. */
bool begin_visit(struct visit *visit, pid_t thread, uint64_t function, uint64_t argument,
                 uint64_t stack);

/* Continues the thread if something has stopped it. Call this now and then. Returns false if it has
 * ended. */
bool keep_visit(struct visit *visit);

/* Stops the thread and puts it back to its old position. Returns false if it has ended. */
bool end_visit(struct visit *visit);

#endif
