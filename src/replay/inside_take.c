/* inside_take.c: takes threads out of calls that the code inside makes for them; see inside.h.
 *
 * A thread that waits in such a call may get a signal, or be released. Then it must be where it
 * would be if the program had made the call by itself. What it has pushed there tells the program's
 * registers. */
#include "replay/inside.h"

#include "tracee/tracee.h"
#include "x86/kernel.h"

bool inside_is_restart(uint64_t rax) {
    int64_t result = (int64_t)rax;
    return result <= -INSIDE_RESTART_FIRST && result >= -INSIDE_RESTART_LAST;
}

bool inside_is_interrupted(const struct user_regs_struct *registers) {
    return registers->rip == QUIPU_INSIDE_CALL_END && (int64_t)registers->orig_rax >= 0 &&
           inside_is_restart(registers->rax);
}

/* Sets the program's registers behind the call of FRAME, but for rax and orig_rax. Returns the
 * site, or NULL. */
static const struct inside_site *set_behind(const struct inside *inside,
                                            const struct quipu_inside_frame *frame, uint64_t stack,
                                            struct user_regs_struct *registers) {
    const struct inside_site *site = inside_find_site(inside, frame->rcx - CALL_SIZE);
    if (!site)
        return NULL;
    registers->rbx = frame->rbx;
    registers->rbp = frame->rbp;
    registers->rdx = frame->rdx;
    registers->rsi = frame->rsi;
    registers->rdi = frame->rdi;
    registers->r8 = frame->r8;
    registers->r9 = frame->r9;
    registers->r10 = frame->r10;
    registers->r12 = frame->r12;
    registers->r13 = frame->r13;
    registers->r14 = frame->r14;
    registers->r15 = frame->r15;
    registers->rsp = stack;
    registers->eflags = frame->flags;
    registers->r11 = frame->flags;
    registers->rip = registers->rcx = site->address + CALL_SIZE;
    return site;
}

/* THREAD gets REGISTERS, but goes on in what was moved. */
static bool go_behind(pid_t thread, const struct user_regs_struct *registers,
                      const struct inside_site *site) {
    struct user_regs_struct own = *registers;
    own.rip = inside_behind(site);
    return set_general_registers(thread, &own);
}

bool inside_take_call(const struct inside *inside, pid_t thread,
                      struct user_regs_struct *registers) {
    struct quipu_inside_frame frame;
    struct user_regs_struct own;
    uint64_t stack;
    if (!get_general_registers(thread, &own) || !inside_is_interrupted(&own) ||
        !read_memory(thread, QUIPU_INSIDE_FRAME, &frame, sizeof frame) ||
        !read_memory(thread, QUIPU_INSIDE_SAVED_STACK, &stack, sizeof stack))
        return false;
    if (own.orig_rax != frame.rax || own.rdi != frame.rdi || own.rsi != frame.rsi ||
        own.rdx != frame.rdx || own.r10 != frame.r10)
        return false; /* a call that the code makes for itself */
    const struct inside_site *site = set_behind(inside, &frame, stack, &own);
    if (!site)
        return false;
    *registers = own;
    return go_behind(thread, &own, site);
}

/* ---- places ---- */

static uint64_t word_of_place(unsigned place) {
    return QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, waiting) +
           place * sizeof(uint32_t);
}

/* Sets WAITER to what THREAD has in its place. Returns false if it is in none. */
static bool find_waiter(const struct inside *inside, pid_t thread, unsigned *place,
                        struct quipu_inside_waiter *waiter) {
    uint32_t waiting[QUIPU_INSIDE_WAITERS];
    if (!inside->is_mapped || !is_inside(next_instruction(thread)) ||
        !read_memory(thread, word_of_place(0), waiting, sizeof waiting))
        return false;
    for (*place = 0; *place < QUIPU_INSIDE_WAITERS; ++*place)
        if (waiting[*place] == (uint32_t)thread)
            return read_memory(thread, QUIPU_INSIDE_WAITER(*place), waiter, sizeof *waiter);
    return false;
}

static bool free_place(pid_t thread, unsigned place) {
    const uint32_t nobody = 0;
    return write_data(thread, word_of_place(place), &nobody, sizeof nobody);
}

/* Whether the call of WAITER has its result. Sets RESULT, also if it was interrupted. */
static bool is_made(const struct quipu_inside_waiter *waiter,
                    const struct user_regs_struct *registers, int64_t *result) {
    bool is_behind = !waiter->is_made && registers->rip - QUIPU_INSIDE_WAIT_END <
                                             QUIPU_INSIDE_WAIT_MADE - QUIPU_INSIDE_WAIT_END;
    *result = is_behind ? (int64_t)registers->rax : waiter->result;
    if (!is_behind && !waiter->is_made)
        *result = -INSIDE_RESTART_AGAIN; /* it is in front of the call */
    return waiter->is_made || (is_behind && !inside_is_restart(registers->rax));
}

bool inside_take_waiter(struct inside *inside, pid_t thread, struct user_regs_struct *registers,
                        uint64_t *call) {
    struct quipu_inside_waiter waiter;
    unsigned place;
    int64_t result;
    if (!find_waiter(inside, thread, &place, &waiter) || !get_general_registers(thread, registers))
        return false;
    bool made = is_made(&waiter, registers, &result);
    const struct inside_site *site =
        set_behind(inside, &waiter.frame, waiter.saved_stack, registers);
    if (!site || !free_place(thread, place))
        return false;
    inside->owner = INSIDE_OWNER_UNKNOWN; /* the thread may have given the turn away again */
    *call = waiter.frame.rax;
    registers->rax = (uint64_t)result;
    registers->orig_rax = made ? UINT64_MAX : waiter.frame.rax;
    return go_behind(thread, registers, site);
}
