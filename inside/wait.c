/* wait.c: threads that wait in calls while others have the turn; see format/inside.h.
 *
 * Invariants
 *   - Only the thread that has the turn takes a place, or frees its own one. So the table of places
 *     needs no lock.
 *   - A thread in a place does not touch what belongs to the turn: the state's other words, the
 *     common stack, the log.
 *   - The recorder may take a thread out of its place while that is stopped. The thread then never
 *     comes back here, and the recorder frees the place. */
#include "inside/inside.h"

#include <sys/syscall.h>

enum {
    YIELDS = 8 /* until the recorder is asked for the turn */
};

static struct quipu_inside_waiter *waiter_at(unsigned place) {
    return (void *)(uintptr_t)QUIPU_INSIDE_WAITER(place);
}

static unsigned place_of(const struct quipu_inside_waiter *waiter) {
    return (unsigned)(((uint64_t)(uintptr_t)waiter - QUIPU_INSIDE_PLACES) /
                      QUIPU_INSIDE_PLACE_SIZE);
}

static unsigned free_place(void) {
    unsigned place = 0;
    while (place < QUIPU_INSIDE_WAITERS && state->waiting[place])
        place++;
    return place;
}

bool inside_may_wait_here(void) {
    return state->left & QUIPU_TURN_PASSES && free_place() < QUIPU_INSIDE_WAITERS;
}

void inside_take_place(const struct quipu_inside_frame *frame, uint32_t hash) {
    unsigned place = free_place();
    struct quipu_inside_waiter *waiter = waiter_at(place);
    waiter->frame = *frame;
    waiter->saved_stack = state->saved_stack;
    waiter->goes_on = state->goes_on;
    waiter->hash = hash;
    waiter->is_made = 0;
    state->waiting[place] = state->owner;
    state->own_place = (uint64_t)(uintptr_t)waiter;
}

/* ---- the turn ---- */

static bool is_wanted(void) {
    return __atomic_load_n(&state->wanted, __ATOMIC_SEQ_CST) != 0;
}

static bool is_gone(void) {
    return __atomic_load_n(&state->mode, __ATOMIC_RELAXED) == QUIPU_INSIDE_GONE;
}

static void stand(enum quipu_inside_stand why) {
    const uint64_t none[ARGUMENTS] = {0};
    MAKE_CALL_AT("inside_stand", 0, (uint64_t)why, none);
}

static void yield(void) {
    const uint64_t none[ARGUMENTS] = {0};
    uint64_t outcome[2];
    MAKE_CALL_AT("inside_wait_in_kernel", outcome, (uint64_t)SYS_sched_yield, none);
}

static void give_turn(void) {
    __atomic_store_n(&state->owner, 0, __ATOMIC_SEQ_CST);
    if (is_wanted())
        stand(QUIPU_GIVES_TURN);
}

/* Takes the turn, if nobody has or wants it. */
static bool take_turn(uint32_t self) {
    uint32_t nobody = 0;
    if (is_wanted() || !__atomic_compare_exchange_n(&state->owner, &nobody, self, false,
                                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return false;
    if (!is_wanted())
        return true;
    __atomic_store_n(&state->owner, 0, __ATOMIC_SEQ_CST);
    return false;
}

static bool has_turn(uint32_t self) {
    return __atomic_load_n(&state->owner, __ATOMIC_SEQ_CST) == self;
}

static void await_turn(uint32_t self) {
    for (int i = 0; i < YIELDS && !is_wanted(); i++) {
        if (take_turn(self))
            return;
        yield();
    }
    while (!has_turn(self) && !is_gone())
        stand(QUIPU_STANDS_FOR_TURN);
}

/* The recorder empties the log at each stop. */
static void await_room(void) {
    while (!inside_has_room() && !is_gone())
        stand(QUIPU_STANDS_FOR_TURN);
}

int inside_wait(struct quipu_inside_waiter *waiter) {
    uint32_t *place = &state->waiting[place_of(waiter)];
    struct call call;
    inside_read_call(&call, &waiter->frame);
    give_turn();
    MAKE_CALL_AT("inside_wait_in_kernel", &waiter->result, call.number, call.arguments);
    await_turn(*place);
    await_room();
    *place = 0;
    call.result = waiter->result;
    call.row = inside_find_row(&call);
    state->saved_stack = waiter->saved_stack;
    state->goes_on = waiter->goes_on;
    if (!is_gone())
        inside_add_call(&call, waiter->hash);
    waiter->frame.rax = (uint64_t)call.result;
    return INSIDE_MADE;
}
