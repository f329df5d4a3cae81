/* inside_turn.c: which thread has the turn, where threads pass it to each other inside of their
 * process; see inside.h and format/inside.h.
 *
 * Invariant: `passes` is what the memory's `wanted` is not. While it is false, `owner` is what the
 * memory has, or unknown: a thread that no longer has the turn then stops, and says so, or is taken
 * out. It may have had the turn for a moment, before it saw that this is wanted. */
#include "replay/inside.h"

#include "tracee/tracee.h"
#include "x86/kernel.h"

#define PLACE(member) (QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, member))

static bool set_wanted(pid_t thread, uint32_t wanted) {
    return write_data(thread, PLACE(wanted), &wanted, sizeof wanted);
}

/* The owner changes first: nobody takes a turn that somebody has. */
void inside_give_turn(struct inside *inside, pid_t thread, pid_t owner, bool passes) {
    const uint32_t number = (uint32_t)owner;
    if (!inside->is_mapped)
        return;
    if (inside->owner != number && write_data(thread, PLACE(owner), &number, sizeof number))
        inside->owner = number;
    if (passes && set_wanted(thread, 0))
        inside->passes = true;
}

bool inside_take_turn(struct inside *inside, pid_t thread, pid_t *owner) {
    uint32_t number = 0;
    *owner = 0;
    if (!set_wanted(thread, 1) || !read_memory(thread, PLACE(owner), &number, sizeof number))
        return false;
    inside->passes = false;
    inside->owner = number;
    *owner = (pid_t)number;
    return true;
}

uint64_t inside_stand(struct inside *inside, pid_t thread) {
    struct user_regs_struct registers;
    if (!inside->is_mapped || !get_general_registers(thread, &registers) ||
        registers.rip != QUIPU_INSIDE_STAND_END)
        return 0;
    inside->owner = INSIDE_OWNER_UNKNOWN;
    return registers.orig_rax;
}

void inside_forget_places(struct inside *inside, pid_t thread) {
    static const uint32_t none[QUIPU_INSIDE_WAITERS];
    if (inside->is_mapped)
        write_data(thread, PLACE(waiting), none, sizeof none);
    inside->owner = INSIDE_OWNER_UNKNOWN;
}
