/* kernel.c: system calls and debug registers of a traced thread; see kernel.h.
 *
 * The AMD64 System V ABI, appendix A.2 (calls) and section 3.4 (the stack of a new program); the
 * Intel manual, volume 3, section 17.2 (debug registers). */
#include "x86/kernel.h"

#include "util/parent.h"
#include "util/process.h"
#include "x86/registers.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CALL_SIZE = 2,     /* syscall: 0f 05 */
    CALL_STOP = 0x80,  /* PTRACE_O_TRACESYSGOOD: set in the signal of stops at system calls */
    DEBUG_STATUS = 6,  /* the debug register that says which object was written */
    DEBUG_CONTROL = 7, /* the debug register that says which others are used, and how */
    WATCH_WRITES = 1,  /* debug register 7: kind of access */
    WATCH_ACCESSES = 3,
    WATCH_SHIFT = 16,    /* the first object's kind and length, four bits for each object */
    WATCH_STATUS = 0xf,  /* debug register 6: the objects that were written */
    LOOKS_OF_END = 20,   /* looks at a thread that is about to stop, of which one is at its end */
    AUXILIARY_MAX = 4096 /* auxiliary values of a new program that are read at most */
};

bool skip_call(pid_t thread) {
    return set_register(thread, offsetof(struct user_regs_struct, orig_rax), UINT64_MAX);
}

bool set_call_result(pid_t thread, int64_t result) {
    return set_register(thread, offsetof(struct user_regs_struct, rax), (uint64_t)result);
}

bool repeat_call(pid_t thread, uint64_t number) {
    return set_register(thread, offsetof(struct user_regs_struct, rip), call_site(thread)) &&
           skip_call(thread) &&
           set_register(thread, offsetof(struct user_regs_struct, rax), number);
}

uint64_t next_instruction(pid_t thread) {
    uint64_t address = 0;
    get_register(thread, offsetof(struct user_regs_struct, rip), &address);
    return address;
}

uint64_t call_site(pid_t thread) {
    return next_instruction(thread) - CALL_SIZE;
}

bool is_system_call(const uint8_t *code) {
    return code[0] == 0x0f && code[1] == 0x05;
}

/* Waits for the next stop of THREAD. Returns its status as wait does, or 0 if there is none. Its
 * end is left to who waits for it; that of a first thread may be told only behind those of others.
 */
static int await_stop(pid_t thread) {
    siginfo_t info = {0};
    for (unsigned looks = 1;; looks++) {
        int failed = waitid(P_PID, (id_t)thread, &info, WSTOPPED | WNOHANG | __WALL);
        if (!failed && info.si_pid == thread)
            return info.si_status << 8 | 0x7f;
        if ((failed || looks % LOOKS_OF_END == 0) && has_ended(thread, thread))
            return 0;
        sched_yield();
    }
}

/* Continues to the next stop. Returns its status from wait, or 0 if it has been killed. */
static int next_stop(pid_t thread) {
    if (ptrace(PTRACE_SYSCALL, thread, NULL, NULL) != 0)
        return 0;
    int status = await_stop(thread);
    if (status >> 16 != PTRACE_EVENT_EXIT)
        return status;
    ptrace(PTRACE_CONT, thread, NULL, NULL); /* nobody else sees this stop, but its end */
    return 0;
}

/* Continues to the end of the call that THREAD is about to make. */
static bool finish_call(pid_t thread, pid_t *child) {
    int calls = 0;
    while (calls < 2) {
        int status = next_stop(thread);
        unsigned long message = 0;
        if (!status)
            return false;
        calls += WSTOPSIG(status) == (SIGTRAP | CALL_STOP);
        bool made = status >> 16 == PTRACE_EVENT_FORK || status >> 16 == PTRACE_EVENT_CLONE;
        if (child && made && ptrace(PTRACE_GETEVENTMSG, thread, NULL, &message) == 0)
            *child = (pid_t)message;
    }
    return true;
}

/* The new child is stopped. Makes it continue at the same address as its parent THREAD. */
static bool take_child(pid_t child, const struct user_regs_struct *registers, uint64_t *mask) {
    int status;
    return waitpid(child, &status, __WALL) == child && WIFSTOPPED(status) &&
           set_general_registers(child, registers) &&
           ptrace(PTRACE_SETSIGMASK, child, sizeof *mask, mask) == 0;
}

int64_t inject_call(pid_t thread, uint64_t site, long number, const uint64_t arguments[6],
                    pid_t *child) {
    struct user_regs_struct saved, call;
    uint64_t mask, all = UINT64_MAX;
    pid_t made = 0;
    if (!get_general_registers(thread, &saved) ||
        ptrace(PTRACE_GETSIGMASK, thread, sizeof mask, &mask) != 0 ||
        ptrace(PTRACE_SETSIGMASK, thread, sizeof all, &all) != 0)
        return -EIO;
    call = saved;
    call.rip = site;
    call.orig_rax = UINT64_MAX; /* there is no call that would begin again */
    call.rax = (uint64_t)number;
    put_call_arguments(&call, arguments);
    if (!set_general_registers(thread, &call) || !finish_call(thread, child ? &made : NULL) ||
        !get_general_registers(thread, &call) || !set_general_registers(thread, &saved) ||
        ptrace(PTRACE_SETSIGMASK, thread, sizeof mask, &mask) != 0 ||
        (made && !take_child(made, &saved, &mask)))
        return -EIO;
    if (child)
        *child = made;
    return (int64_t)call.rax;
}

static bool read_word(pid_t thread, uint64_t address, uint64_t *word) {
    errno = 0;
    *word = (uint64_t)ptrace(PTRACE_PEEKDATA, thread, (void *)address, NULL);
    return errno == 0;
}

/* The stack begins with the number of arguments, the arguments, 0, the environment, 0, and then
 * pairs. */
bool hide_kernel_code(pid_t thread) {
    uint64_t word = 0, at = 0;
    if (!get_register(thread, offsetof(struct user_regs_struct, rsp), &at) ||
        !read_word(thread, at, &word))
        return false;
    at += 8 * (word + 2); /* the environment */
    do {
        if (!read_word(thread, at, &word))
            return false;
        at += 8;
    } while (word);
    for (int i = 0; i < AUXILIARY_MAX && read_word(thread, at, &word) && word != AT_NULL; i++) {
        if (word == AT_SYSINFO_EHDR)
            return ptrace(PTRACE_POKEDATA, thread, (void *)at, (void *)AT_IGNORE) == 0;
        at += 16;
    }
    return true;
}

void end_steps(pid_t thread) {
    const size_t place = offsetof(struct user_regs_struct, eflags);
    uint64_t flags = 0;
    if (get_register(thread, place, &flags) && flags & TRAP_FLAG)
        set_register(thread, place, flags & ~(uint64_t)TRAP_FLAG);
}

static bool set_debug_register(pid_t thread, size_t number, uint64_t value) {
    return ptrace(PTRACE_POKEUSER, thread, (void *)(offsetof(struct user, u_debugreg) + 8 * number),
                  (void *)value) == 0;
}

bool watch_accesses(pid_t thread, const uint64_t *addresses, const uint32_t *sizes, size_t count,
                    unsigned reads) {
    static const uint8_t lengths[] = {[1] = 0, [2] = 1, [4] = 3, [8] = 2};
    uint64_t control = 0;
    if (!set_debug_register(thread, DEBUG_CONTROL, 0))
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned condition = reads >> i & 1 ? WATCH_ACCESSES : WATCH_WRITES;
        if (!set_debug_register(thread, i, addresses[i]))
            return false;
        control |= (uint64_t)1 << 2 * i;
        control |= (uint64_t)(condition | lengths[sizes[i]] << 2) << (WATCH_SHIFT + 4 * i);
    }
    return set_debug_register(thread, DEBUG_CONTROL, control);
}

bool watch_memory(pid_t thread, const uint64_t *addresses, const uint32_t *sizes, size_t count) {
    return watch_accesses(thread, addresses, sizes, count, 0);
}

/* The child writes this, and its debug register must stop it then. */
static volatile int tried;

static void try_write(pid_t parent) {
    end_with_parent(parent, SIGKILL); /* while it is stopped, too */
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    tried = 1;
    _exit(0);
}

bool has_debug_registers(void) {
    const char *wanted = getenv("QUIPU_DEBUG_REGISTERS");
    uint64_t address = (uint64_t)(uintptr_t)&tried;
    uint32_t size = sizeof tried;
    int status = 0;
    if (wanted && strcmp(wanted, "0") == 0)
        return false;
    pid_t parent = getpid(), child = fork();
    if (child < 0)
        return true; /* the search cannot make its copies either, and reports that */
    if (child == 0)
        try_write(parent);
    bool stands = waitpid(child, &status, __WALL) == child && WIFSTOPPED(status);
    bool stops = stands && watch_memory(child, &address, &size, 1) &&
                 ptrace(PTRACE_CONT, child, NULL, NULL) == 0 &&
                 waitpid(child, &status, __WALL) == child && WIFSTOPPED(status) &&
                 WSTOPSIG(status) == SIGTRAP;
    if (stands && WIFSTOPPED(status)) {
        kill(child, SIGKILL);
        waitpid(child, &status, __WALL);
    }
    return stops;
}

unsigned take_written(pid_t thread) {
    const size_t place = offsetof(struct user, u_debugreg[DEBUG_STATUS]);
    errno = 0;
    long status = ptrace(PTRACE_PEEKUSER, thread, (void *)place, NULL);
    if (errno || !(status & WATCH_STATUS))
        return 0;
    set_debug_register(thread, DEBUG_STATUS, 0);
    return (unsigned)status & WATCH_STATUS;
}
