/* step.c: single steps; see step.h. The Intel manual, volume 2: PUSHF, SYSCALL. */
#include "x86/step.h"

#include "x86/kernel.h"
#include "x86/registers.h"

#include <errno.h>
#include <sys/ptrace.h>

enum {
    PUSHF = 0x9c,
    OPERAND_SIZE = 0x66,
    REX_FIRST = 0x40,
    REX_LAST = 0x4f,
};

static bool is_prefix(uint8_t byte) {
    return byte == OPERAND_SIZE || (byte >= REX_FIRST && byte <= REX_LAST);
}

struct single_step begin_step(pid_t thread) {
    struct single_step step = {.is_step = true, .address = next_instruction(thread)};
    uint8_t code[sizeof(long)];
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, thread, (void *)step.address, NULL);
    if (errno)
        return step; /* it faults, or ends at the end of what is mapped */
    __builtin_memcpy(code, &word, sizeof code);
    step.is_step = !is_system_call(code);
    unsigned place = 0;
    while (place < sizeof code - 1 && is_prefix(code[place]))
        place++;
    step.pushes_flags = code[place] == PUSHF;
    return step;
}

void finish_step(pid_t thread, const struct single_step *step) {
    uint64_t stack = 0;
    if (!step->is_step || !step->pushes_flags || next_instruction(thread) == step->address ||
        !get_register(thread, offsetof(struct user_regs_struct, rsp), &stack))
        return;
    errno = 0;
    long flags = ptrace(PTRACE_PEEKDATA, thread, (void *)stack, NULL);
    if (!errno)
        ptrace(PTRACE_POKEDATA, thread, (void *)stack, (void *)(flags & ~(long)TRAP_FLAG));
}
