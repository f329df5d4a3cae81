/* clone_call.c: the system calls that make threads and processes; see clone_call.h.
 *
 * clone(2): the order of clone's arguments is that of x86-64. clone3 has a structure. */
#include "x86/clone_call.h"

#include "x86/registers.h"

#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

bool is_clone_call(uint64_t number) {
    return number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork;
}

static void read_structure(pid_t thread, uint64_t address, uint64_t size, struct clone_call *made) {
    struct clone_args there;
    memset(&there, 0, sizeof there);
    struct iovec to = {&there, size < sizeof there ? size : sizeof there};
    struct iovec from = {(void *)address, to.iov_len};
    if (process_vm_readv(thread, &to, 1, &from, 1, 0) != (ssize_t)to.iov_len)
        return;
    *made = (struct clone_call){there.flags, there.parent_tid, there.child_tid, there.pidfd};
}

void read_clone_call(pid_t thread, uint64_t number, const uint64_t arguments[6],
                     struct clone_call *made) {
    *made = (struct clone_call){0};
    if (number == SYS_clone) /* its address of the descriptor is that of the parent's number */
        *made = (struct clone_call){arguments[0], arguments[2], arguments[3], arguments[2]};
    else if (number == SYS_clone3)
        read_structure(thread, arguments[0], arguments[1], made);
    else if (number == SYS_vfork)
        made->flags = CLONE_VM | CLONE_VFORK;
}

bool replace_clone_call(pid_t thread, uint64_t flags) {
    struct user_regs_struct registers;
    const uint64_t arguments[6] = {flags};
    if (!get_general_registers(thread, &registers))
        return false;
    registers.orig_rax = SYS_clone;
    put_call_arguments(&registers, arguments);
    return set_general_registers(thread, &registers);
}
