/* call_stop.c: system calls and signal frames of a traced thread; see call_stop.h.
 *
 * The Intel manual, volume 2: SYSCALL (%rcx and %r11). The kernel's
 * arch/x86/include/asm/sigframe.h and uapi/asm/sigcontext.h: a frame is the return address, a
 * ucontext and a siginfo; the area of xsave, to which the ucontext points, is above them. */
#include "x86/call_stop.h"

#include "format/event_hash.h"
#include "x86/kernel.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/ucontext.h>
#include <sys/uio.h>

enum {
    CALL_SIZE = 2,
    CODE_64 = 0x33, /* Linux's selector (asm/segment.h, __USER_CS) */
    PROGRAM_FLAGS = QUIPU_HASHED_FLAGS,
    CELL_FLAGS = 0x14,      /* parity and adjust */
    FRAME_MOST = 64 * 1024, /* more is no frame */
    LEGACY_AREA = 512,      /* bytes of what fxsave stores */
    SOFTWARE_BYTES = 464,   /* in it: struct _fpx_sw_bytes */
    EXTENDED_MAGIC = 0x46505853
};

enum {
    WORDS = QUIPU_HASHED_REGISTERS, /* that a program sees */
    R11 = 11
};

static void list_registers(const struct user_regs_struct *registers, bool in_call,
                           uint64_t words[WORDS]) {
    const uint64_t accumulator = in_call ? registers->orig_rax : registers->rax;
    const uint64_t list[WORDS] = {
        accumulator,        registers->rbx,     registers->rcx,
        registers->rdx,     registers->rsi,     registers->rdi,
        registers->rbp,     registers->rsp,     registers->r8,
        registers->r9,      registers->r10,     registers->r11 & (in_call ? PROGRAM_FLAGS : -1ull),
        registers->r12,     registers->r13,     registers->r14,
        registers->r15,     registers->rip,     registers->eflags & PROGRAM_FLAGS,
        registers->fs_base, registers->gs_base,
    };
    memcpy(words, list, sizeof list);
}

uint32_t hash_registers(const struct user_regs_struct *registers, bool in_call) {
    uint64_t words[WORDS];
    list_registers(registers, in_call, words);
    words[R11] &= ~(uint64_t)CELL_FLAGS; /* a call has left the flags there */
    return quipu_hash_registers(words);
}

bool has_same_registers(const struct user_regs_struct *one, const struct user_regs_struct *other) {
    uint64_t words[WORDS], others[WORDS];
    list_registers(one, false, words);
    list_registers(other, false, others);
    return memcmp(words, others, sizeof words) == 0;
}

bool runs_64_bits(const struct user_regs_struct *registers) {
    return registers->cs == CODE_64;
}

bool answer_call(pid_t thread, int64_t result) {
    return skip_call(thread) && set_call_result(thread, result);
}

bool enter_call_again(pid_t thread) {
    uint64_t number;
    return get_register(thread, offsetof(struct user_regs_struct, orig_rax), &number) &&
           repeat_call(thread, number);
}

bool set_call_arguments(pid_t thread, const uint64_t arguments[6]) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread, &registers))
        return false;
    put_call_arguments(&registers, arguments);
    return set_general_registers(thread, &registers);
}

bool replace_call(pid_t thread, uint64_t number, const uint64_t arguments[6]) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread, &registers))
        return false;
    registers.orig_rax = number;
    put_call_arguments(&registers, arguments);
    return set_general_registers(thread, &registers);
}

static bool peek(pid_t thread, uint64_t address, void *bytes, size_t size) {
    struct iovec here = {bytes, size}, there = {(void *)address, size};
    return process_vm_readv(thread, &here, 1, &there, 1, 0) == (ssize_t)size;
}

size_t signal_frame_size(pid_t thread, const struct user_regs_struct *registers) {
    ucontext_t context;
    uint32_t software[2]; /* magic number, extended size */
    const uint64_t begin = registers->rsp, place = begin + sizeof(uint64_t);
    size_t size = sizeof(uint64_t) + sizeof context + sizeof(siginfo_t);
    if (!peek(thread, place, &context, offsetof(ucontext_t, uc_mcontext) + sizeof(mcontext_t)))
        return 0;
    uint64_t area = (uint64_t)context.uc_mcontext.fpregs;
    if (!area)
        return size;
    if (area - begin > FRAME_MOST ||
        !peek(thread, area + SOFTWARE_BYTES, software, sizeof software))
        return 0;
    size = area - begin + LEGACY_AREA;
    if (software[0] == EXTENDED_MAGIC && software[1] > LEGACY_AREA && software[1] <= FRAME_MOST)
        size = area - begin + software[1];
    return size;
}

int64_t inject_first_call(pid_t thread, long number, const uint64_t arguments[6]) {
    static const uint8_t call[CALL_SIZE] = {0x0f, 0x05};
    uint64_t site = next_instruction(thread), code;
    errno = 0;
    uint64_t saved = (uint64_t)ptrace(PTRACE_PEEKTEXT, thread, (void *)site, NULL);
    if (errno)
        return -errno;
    code = saved;
    memcpy(&code, call, sizeof call);
    if (ptrace(PTRACE_POKETEXT, thread, (void *)site, (void *)code) != 0)
        return -errno;
    int64_t result = inject_call(thread, site, number, arguments, NULL);
    return ptrace(PTRACE_POKETEXT, thread, (void *)site, (void *)saved) == 0 ? result : -errno;
}
