/* thread.c: where a stopped thread stands; see thread.h. */
#include "x86/thread.h"

#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

enum {
    SYSCALL_SIZE = 2, /* bytes of the instruction */
};

/* The kernel's own numbers for a call that is made again once the thread goes on; programs never
 * see them. */
static const int64_t again[] = {-512, -513, -514, -516};

bool thread_address(pid_t thread, uint64_t *address) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) != 0)
        return false;
    *address = registers.rip;
    for (size_t i = 0; i < sizeof again / sizeof *again; i++)
        if ((int64_t)registers.orig_rax >= 0 && (int64_t)registers.rax == again[i])
            *address = registers.rip - SYSCALL_SIZE;
    return true;
}
