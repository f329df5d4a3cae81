/* visit.h: a stopped thread is sent to a function, and taken back. */
#ifndef QUIPU_X86_VISIT_H
#define QUIPU_X86_VISIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* What the thread has beside its vector registers, which the function does not touch. */
struct visit {
    pid_t thread;
    struct user_regs_struct registers;
    uint64_t mask;
    bool stop_asked; /* a SIGSTOP has come meanwhile */
};

/* Sends THREAD, which was seized and stands by PTRACE_INTERRUPT, to FUNCTION with ARGUMENT, on the
 * stack that ends at STACK.  It gets no signal there.  The function must not return.  Returns
 * false, with errno set, where the thread cannot be sent; it stands as before. */
bool begin_visit(struct visit *visit, pid_t thread, uint64_t function, uint64_t argument,
                 uint64_t stack);

/* Has the thread go on where something has stopped it; to be called now and then.  Returns false
 * where it has ended. */
bool keep_visit(struct visit *visit);

/* Stops the thread and puts it back where it stood.  Returns false where it has ended. */
bool end_visit(struct visit *visit);

#endif
