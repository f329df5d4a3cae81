/* thread.c: the next instruction of a stopped thread; see thread.h. */
#include "x86/thread.h"

#include "x86/registers.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

enum {
    SYSCALL_SIZE = 2, /* bytes of the instruction */
};

/* The kernel's own numbers for a call that is repeated when the thread continues. Programs never
 * see them. */
static const int64_t again[] = {-512, -513, -514, -516};

enum {
    AGAIN_WITHOUT_HANDLER = -514
};

/* Calls that end with EINTR if a process is stopped and continued (signal(7)), and that can be
 * repeated, with their whole timeout. */
static const uint64_t broken[] = {SYS_epoll_wait,      SYS_epoll_pwait, SYS_epoll_pwait2,
                                  SYS_semop,           SYS_semtimedop,  SYS_io_getevents,
                                  SYS_rt_sigtimedwait, SYS_recvfrom,    SYS_recvmsg,
                                  SYS_accept,          SYS_accept4};

bool thread_address(pid_t thread, uint64_t *address) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread, &registers))
        return false;
    *address = registers.rip;
    for (size_t i = 0; i < sizeof again / sizeof *again; i++)
        if ((int64_t)registers.orig_rax >= 0 && (int64_t)registers.rax == again[i])
            *address = registers.rip - SYSCALL_SIZE;
    return true;
}

bool thread_turns(pid_t thread, uint64_t *rcx) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread, &registers))
        return false;
    *rcx = registers.rcx;
    return true;
}

bool read_thread_pointer(pid_t thread, uint64_t *address) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread, &registers))
        return false;
    *address = registers.fs_base;
    return true;
}

static bool read_word(pid_t thread, uint64_t address, uint64_t *word) {
    errno = 0;
    *word = (uint64_t)ptrace(PTRACE_PEEKDATA, thread, (void *)address, NULL);
    return errno == 0;
}

/* The second word of the thread's block is the address of the vector. Its first pair is the number
 * of pairs, the others are an address, and one to free. (ELF Handling for Thread-Local Storage,
 * section 3; the C library's tcbhead_t and dtv_t.) */
bool read_thread_memory(pid_t thread, uint64_t module, uint64_t *address) {
    enum {
        PAIR = 16
    };
    uint64_t block, vector, count;
    return read_thread_pointer(thread, &block) && read_word(thread, block + 8, &vector) &&
           read_word(thread, vector - PAIR, &count) && module > 0 && module <= count &&
           read_word(thread, vector + module * PAIR, address) && *address && ~*address;
}

void repeat_broken_call(pid_t thread) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread, &registers) || (int64_t)registers.rax != -EINTR)
        return;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        if (registers.orig_rax == broken[i]) {
            registers.rax = (uint64_t)(int64_t)AGAIN_WITHOUT_HANDLER;
            set_general_registers(thread, &registers);
        }
}
