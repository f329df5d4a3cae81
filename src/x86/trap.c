/* trap.c: breakpoints in a traced thread; see trap.h. */
#include "x86/trap.h"

#include "x86/registers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>

bool trap_address(pid_t thread, uint64_t *address) {
    struct user_regs_struct registers;
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, thread, NULL, &info) != 0 ||
        (info.si_code != SI_KERNEL && info.si_code != TRAP_BRKPT) ||
        !get_general_registers(thread, &registers))
        return false;
    *address = registers.rip - 1;
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, thread, (void *)*address, NULL);
    return !errno && (word & 0xff) == BREAKPOINT_BYTE;
}

void set_thread_address(pid_t thread, uint64_t address) {
    set_register(thread, offsetof(struct user_regs_struct, rip), address);
}

uint64_t first_argument(pid_t thread) {
    uint64_t argument = 0;
    get_register(thread, offsetof(struct user_regs_struct, rdi), &argument);
    return argument;
}

static const struct {
    const char *name;
    size_t offset;
} general[] = {
    {"rip", offsetof(struct user_regs_struct, rip)},
    {"flags", offsetof(struct user_regs_struct, eflags)},
    {"rax", offsetof(struct user_regs_struct, rax)},
    {"rbx", offsetof(struct user_regs_struct, rbx)},
    {"rcx", offsetof(struct user_regs_struct, rcx)},
    {"rdx", offsetof(struct user_regs_struct, rdx)},
    {"rsi", offsetof(struct user_regs_struct, rsi)},
    {"rdi", offsetof(struct user_regs_struct, rdi)},
    {"rbp", offsetof(struct user_regs_struct, rbp)},
    {"rsp", offsetof(struct user_regs_struct, rsp)},
    {"r8", offsetof(struct user_regs_struct, r8)},
    {"r9", offsetof(struct user_regs_struct, r9)},
    {"r10", offsetof(struct user_regs_struct, r10)},
    {"r11", offsetof(struct user_regs_struct, r11)},
    {"r12", offsetof(struct user_regs_struct, r12)},
    {"r13", offsetof(struct user_regs_struct, r13)},
    {"r14", offsetof(struct user_regs_struct, r14)},
    {"r15", offsetof(struct user_regs_struct, r15)},
};

void print_registers(pid_t thread) {
    struct user_regs_struct registers = {0};
    get_general_registers(thread, &registers);
    for (size_t i = 0; i < sizeof general / sizeof *general; i++) {
        const unsigned long long *value = (const void *)((char *)&registers + general[i].offset);
        printf("%5s 0x%016llx%s", general[i].name, *value, i % 2 ? "\n" : "    ");
    }
}
