/* order.c: one writer after the other, so that what a hit says was there before is what its
 * own write has replaced, and hits of one place are told in the order of memory.
 *
 * Between the look at what was and the hit's record a store holds the orders of the granules that
 * it writes; so does who compares, and who tells of what a call wrote.  Another thread that is
 * about to write there waits.  The instruction itself is the program's own, so registers, flags and
 * what is atomic are as they were without us.  Where there is one thread nobody is held.
 *
 * A thread never waits for itself: a handler that interrupts a writer and writes there, too, goes
 * on within its order, and the one that it has interrupted is told to be not sure.  A writer may be
 * left by longjmp, or stopped by a debugger: who has waited for too long goes on, is not sure, and
 * from then on the order is its own.  Nothing is held while a handler of the program runs or an
 * answer is waited for.
 *
 * Invariants: orders are taken by their numbers, upwards.  They are the process's, and free in a
 * forked child.
 *
 * Not perfect: code without checks takes none. */
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <time.h>

enum {
    SPINS = 100,
    YIELDS = 20,
    NAP = 50 * 1000,    /* nanoseconds */
    NEAR = 1 << 20,     /* bytes: on the same stack */
    PATIENCE_BITS = 30, /* of cycles */
    ALL_FROM = 2,       /* granules that are written, less one */
};

static bool is_over(uint64_t since) {
    return (int64_t)(__builtin_ia32_rdtsc() - since) >> PATIENCE_BITS > 0;
}

static void wait_a_little(unsigned turn) {
    const struct timespec nap = {0, NAP};
    if (turn < SPINS)
        __builtin_ia32_pause();
    else if (turn < SPINS + YIELDS)
        SYSTEM_CALL(sched_yield, 0, 0, 0, 0, 0, 0);
    else
        SYSTEM_CALL(nanosleep, &nap, NULL, 0, 0, 0, 0);
}

static bool change_owner(struct watch_order *order, uint64_t from, uint64_t to) {
    return __atomic_compare_exchange_n(&order->owner, &from, to, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* Whether the thread's own writer, who has the order, has been left: deeper in the stack. */
static bool is_left(const struct watch_order *order, uint64_t stack) {
    return stack - order->stack < NEAR;
}

/* Returns whether it is HOLD's now: it may be that of a writer which is interrupted. */
static bool take(struct watch_order *order, struct watch_hold *hold) {
    uint64_t self = thread_pointer(), begin = 0;
    for (unsigned turn = 0;; turn++) {
        uint64_t owner = __atomic_load_n(&order->owner, __ATOMIC_RELAXED);
        if (!owner && change_owner(order, 0, self))
            return true;
        if (owner == self) {
            order->disturbed = true;
            return is_left(order, hold->stack);
        }
        wait_a_little(turn);
        if (turn == SPINS)
            begin = __builtin_ia32_rdtsc();
        if (owner && begin && is_over(begin) &&
            is_over(__atomic_load_n(&order->stamp, __ATOMIC_RELAXED)) &&
            change_owner(order, owner, self))
            return hold->is_lost = true;
    }
}

static void enter(struct watch_hold *hold, unsigned number) {
    struct watch_order *order = &WATCH_WIPED->orders[number];
    if (!take(order, hold))
        return;
    order->stack = hold->stack;
    order->disturbed = false;
    __atomic_store_n(&order->stamp, __builtin_ia32_rdtsc(), __ATOMIC_RELAXED);
    hold->orders |= 1u << number;
}

static unsigned number_of(uint64_t granule) {
    return (unsigned)(scatter_bits(granule) >> (64 - WATCH_ORDER_BITS));
}

uint64_t quipu_watch_told(uint64_t address, uint64_t end) {
    uint64_t first = address >> QUIPU_WATCH_GRANULE_BITS, sum = 0;
    uint64_t last = lesser((end - 1) >> QUIPU_WATCH_GRANULE_BITS, first + WATCH_ORDERS - 1);
    for (; first <= last; first++)
        sum += __atomic_load_n(&WATCH_WIPED->orders[number_of(first)].told, __ATOMIC_RELAXED);
    return sum;
}

void quipu_watch_hold(struct watch_hold *hold, uint64_t address, uint64_t end, uint64_t stack) {
    hold->stack = stack;
    hold->orders = 0;
    hold->is_lost = false;
    hold->closed = __atomic_load_n(&WATCH_WIPED->closed, __ATOMIC_RELAXED);
    hold->is_alone = quipu_watch_is_alone();
    if (hold->is_alone)
        return;
    hold->events = quipu_watch_events();
    uint64_t first = address >> QUIPU_WATCH_GRANULE_BITS;
    uint64_t last = (end - 1) >> QUIPU_WATCH_GRANULE_BITS;
    if (last - first >= ALL_FROM) {
        for (unsigned i = 0; i < WATCH_ORDERS; i++)
            enter(hold, i);
        return;
    }
    unsigned a = number_of(first), b = number_of(last);
    enter(hold, a < b ? a : b);
    if (a != b)
        enter(hold, a < b ? b : a);
}

static bool has(const struct watch_hold *hold, unsigned number) {
    const struct watch_order *order = &WATCH_WIPED->orders[number];
    return __atomic_load_n(&order->owner, __ATOMIC_RELAXED) == thread_pointer() &&
           order->stack == hold->stack;
}

void quipu_watch_let_go(struct watch_hold *hold) {
    while (hold->orders) {
        unsigned number = (unsigned)__builtin_ctz(hold->orders);
        bool is_own = has(hold, number);
        hold->is_lost |= !is_own;
        hold->orders &= hold->orders - 1;
        if (!is_own)
            continue;
        WATCH_WIPED->orders[number].told++;
        __atomic_store_n(&WATCH_WIPED->orders[number].owner, 0, __ATOMIC_RELEASE);
    }
    hold->is_lost |= !hold->is_alone; /* what is looked at from now on */
}

bool quipu_watch_is_undisturbed(const struct watch_hold *hold, uint64_t address, uint64_t end) {
    if (hold->is_alone)
        return !hold->is_lost &&
               hold->closed == __atomic_load_n(&WATCH_WIPED->closed, __ATOMIC_RELAXED) &&
               quipu_watch_is_alone();
    for (uint32_t rest = hold->orders; rest; rest &= rest - 1) {
        unsigned number = (unsigned)__builtin_ctz(rest);
        if (!has(hold, number) || WATCH_WIPED->orders[number].disturbed)
            return false;
    }
    return !hold->is_lost && !quipu_watch_writes_elsewhere(address, end, hold->events);
}
