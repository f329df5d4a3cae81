/* trap.c: SIGTRAP in the code that wrote.
 *
 * A debugger shall stop in the code that wrote, not in the runtime that it called. So the signal is
 * sent to the thread with all signals blocked. Then rt_sigreturn returns to the program, with a
 * frame that is made here. It sets all registers and the mask at once, and the kernel then delivers
 * the pending signal.
 *
 * Not perfect: extended state that does not fit in the frame (AMX tiles) is cleared. With a shadow
 * stack, rt_sigreturn needs a token there that the runtime cannot write; then the signal is
 * delivered here. */
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <signal.h>
#include <ucontext.h>

enum {
    /* Flags in uc_flags, from the kernel's asm/ucontext.h. */
    HAS_EXTENDED_STATE = 1,
    HAS_STACK_SEGMENT = 2 | 4,
    /* From the kernel's asm/sigcontext.h. */
    STATE_MAGIC = 0x46505853,
    STATE_END = 0x46505845,
    STATE_BASIC = 512 + 64,
    STATE_ROOM = 3072, /* enough for all but AMX */
    COMPONENTS = 63,
};

/* The format of xsave, with the fields in which the kernel looks for its magic numbers. */
struct state {
    _Alignas(64) uint8_t legacy[464];
    uint32_t magic, extended_size;
    uint64_t features;
    uint32_t size, padding[7];
    uint64_t header[8];
    uint8_t more[STATE_ROOM - STATE_BASIC + sizeof(uint32_t)];
};

struct answer {
    uint32_t a, b, c, d;
};

static struct answer ask_processor(uint32_t leaf, uint32_t part) {
    struct answer answer = {.a = leaf, .c = part};
    __asm__("cpuid" : "+a"(answer.a), "=b"(answer.b), "+c"(answer.c), "=d"(answer.d));
    return answer;
}

static bool has_shadow_stack(void) {
    uint64_t pointer = 0;
    __asm__("rdsspq %0" : "+r"(pointer)); /* does nothing without a shadow stack */
    return pointer != 0;
}

/* Saves the vector and x87 registers. Returns whether the state has the extended format. */
static bool save_state(struct state *state) {
    enum {
        OSXSAVE = 1 << 27
    };
    uint32_t low, high;
    *state = (struct state){.size = STATE_BASIC};
    if (!(ask_processor(1, 0).c & OSXSAVE)) {
        __asm__ volatile("fxsave64 %0" : "=m"(*state));
        return false;
    }
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    uint64_t enabled = (uint64_t)high << 32 | low, features = enabled & 3;
    for (uint32_t i = 2; i < COMPONENTS; i++) {
        struct answer place = enabled >> i & 1 ? ask_processor(13, i) : (struct answer){0};
        if (!place.a || place.b + place.a > STATE_ROOM)
            continue;
        features |= (uint64_t)1 << i;
        if (place.b + place.a > state->size)
            state->size = place.b + place.a;
    }
    __asm__ volatile("xsave64 %0"
                     : "+m"(*state)
                     : "a"((uint32_t)features), "d"((uint32_t)(features >> 32)));
    uint32_t end = STATE_END;
    state->magic = STATE_MAGIC;
    state->extended_size = state->size + (uint32_t)sizeof end;
    state->features = features;
    copy_bytes((uint8_t *)state + state->size, &end, sizeof end);
    return true;
}

static uint64_t segments(void) {
    uint16_t code, stack;
    __asm__("movw %%cs, %0\n\tmovw %%ss, %1" : "=r"(code), "=r"(stack));
    return code | (uint64_t)stack << 48;
}

/* Returns the address at which the thread continues. The copy of a store has the line of the store.
 * Code behind a call has the line of whatever precedes it, but also a jump back to the call. */
static uint64_t place_behind(uint64_t at) {
    const uint8_t *place = (const uint8_t *)at;
    bool goes_back = WATCH->trap_cause != QUIPU_CAUSE_STORE && is_jump(place);
    return goes_back ? (uint64_t)target_of_jump(place) : at;
}

/* Sets REGISTERS to what they will be after the return of the runtime's function with frame FRAME,
 * which leaves the stack pointer at STACK. */
static void set_registers(greg_t *registers, const uint64_t *frame, uint64_t stack,
                          const struct watch_kept *kept) {
    const uint64_t values[NGREG] = {
        [REG_EFL] = frame[-1],     [REG_RAX] = frame[-2], [REG_RCX] = frame[-3],
        [REG_RDX] = frame[-4],     [REG_RSI] = frame[-5], [REG_RDI] = frame[-6],
        [REG_R8] = frame[-7],      [REG_R9] = frame[-8],  [REG_R10] = frame[-9],
        [REG_R11] = frame[-10],    [REG_RBP] = frame[0],  [REG_RIP] = place_behind(frame[1]),
        [REG_RSP] = stack,         [REG_RBX] = kept->rbx, [REG_R12] = kept->r12,
        [REG_R13] = kept->r13,     [REG_R14] = kept->r14, [REG_R15] = kept->r15,
        [REG_CSGSFS] = segments(),
    };
    copy_bytes(registers, values, sizeof values);
}

/* Returns only if the signal is not for this thread at this frame; see entry.S. */
void quipu_watch_trap_here(const uint64_t *frame, uint64_t stack, const struct watch_kept *kept);

void quipu_watch_trap_here(const uint64_t *frame, uint64_t stack, const struct watch_kept *kept) {
    struct state state;
    ucontext_t context = {0};
    if (WATCH->trap_thread != thread_pointer() || (uint64_t)frame < WATCH->trap_stack)
        return;
    WATCH->trap_thread = 0;
    __atomic_store_n(&WATCH->trapping, 0, __ATOMIC_RELEASE);
    if (has_shadow_stack()) {
        raise_signal(SIGTRAP);
        return;
    }
    uint64_t mask = block_signals();
    raise_signal(SIGTRAP);
    context.uc_flags = HAS_STACK_SEGMENT | (save_state(&state) ? HAS_EXTENDED_STATE : 0);
    SYSTEM_CALL(sigaltstack, NULL, &context.uc_stack, 0, 0, 0, 0); /* rt_sigreturn sets it, too */
    set_registers(context.uc_mcontext.gregs, frame, stack, kept);
    context.uc_mcontext.fpregs = (void *)&state;
    copy_bytes(&context.uc_sigmask, &mask, sizeof mask);
    __asm__ volatile("movq %0, %%rsp\n\tmovl %1, %%eax\n\tsyscall"
                     :
                     : "r"(&context), "i"(SYS_rt_sigreturn), "m"(context), "m"(state)
                     : "memory");
    __builtin_unreachable();
}

void quipu_watch_trap(uint32_t cause) {
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&WATCH->trapping, &none, 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return; /* another thread is about to stop */
    WATCH->trap_cause = cause;
    WATCH->trap_stack = (uint64_t)__builtin_frame_address(0);
    WATCH->trap_thread = thread_pointer();
}
