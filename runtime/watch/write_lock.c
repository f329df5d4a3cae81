/* write_lock.c: write locks. One writer follows another, so that the old bytes of a hit are
 * those that its own write replaced, and hits of one location are in the order of memory.
 *
 * A store holds the write locks of its granules from the look at the old bytes until the hit's
 * record is written. So does a comparison, and a report of what a call wrote. Another thread that
 * is about to write there waits. The store itself is the program's own instruction, so registers,
 * flags and atomicity do not change. With one thread no lock is taken.
 *
 * A thread never waits for itself. A handler that interrupts a writer and writes under the same
 * lock continues; the interrupted write is then reported as not exact. A writer may be left by
 * longjmp, or stopped by a debugger. A thread that has waited too long takes the lock over, and its
 * write is reported as not exact. No lock is held while a handler of the program runs, or during
 * the wait for an answer.
 *
 * Invariants: locks are taken in increasing order of their numbers. They belong to the process, and
 * are free in a forked child.
 *
 * Not perfect: code without checks takes none. */
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <time.h>

enum {
    SPINS = 100,
    YIELDS = 20,
    NAP = 50 * 1000,    /* nanoseconds */
    NEAR = 1 << 20,     /* bytes: within this distance addresses are on the same stack */
    PATIENCE_BITS = 30, /* logarithm of the waiting time in cycles */
    ALL_FROM = 2,       /* difference of first and last granule from which all locks are taken */
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

static bool change_owner(struct watch_write_lock *lock, uint64_t from, uint64_t to) {
    return __atomic_compare_exchange_n(&lock->owner, &from, to, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* Whether the thread's earlier writer, which holds the lock, was deeper in the stack and has been
 * left. */
static bool is_left(const struct watch_write_lock *lock, uint64_t stack) {
    return stack - lock->stack < NEAR;
}

/* Returns whether HOLD has the lock now. It does not if an interrupted writer of this thread holds
 * it. */
static bool take_lock(struct watch_write_lock *lock, struct watch_hold *hold) {
    uint64_t self = thread_pointer(), begin = 0;
    for (unsigned turn = 0;; turn++) {
        uint64_t owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);
        if (!owner && change_owner(lock, 0, self))
            return true;
        if (owner == self) {
            lock->disturbed = true;
            return is_left(lock, hold->stack);
        }
        wait_a_little(turn);
        if (turn == SPINS)
            begin = __builtin_ia32_rdtsc();
        if (owner && begin && is_over(begin) &&
            is_over(__atomic_load_n(&lock->stamp, __ATOMIC_RELAXED)) &&
            change_owner(lock, owner, self))
            return hold->is_lost = true;
    }
}

static void enter(struct watch_hold *hold, unsigned number) {
    struct watch_write_lock *lock = &WATCH_WIPED->write_locks[number];
    if (!take_lock(lock, hold))
        return;
    lock->stack = hold->stack;
    lock->disturbed = false;
    __atomic_store_n(&lock->stamp, __builtin_ia32_rdtsc(), __ATOMIC_RELAXED);
    hold->locks |= 1u << number;
}

static unsigned number_of(uint64_t granule) {
    return (unsigned)(scatter_bits(granule) >> (64 - WATCH_WRITE_LOCK_BITS));
}

uint64_t quipu_watch_releases(uint64_t address, uint64_t end) {
    uint64_t first = address >> QUIPU_WATCH_GRANULE_BITS, sum = 0;
    uint64_t last = lesser((end - 1) >> QUIPU_WATCH_GRANULE_BITS, first + WATCH_WRITE_LOCKS - 1);
    for (; first <= last; first++)
        sum +=
            __atomic_load_n(&WATCH_WIPED->write_locks[number_of(first)].releases, __ATOMIC_RELAXED);
    return sum;
}

void quipu_watch_hold(struct watch_hold *hold, uint64_t address, uint64_t end, uint64_t stack) {
    hold->stack = stack;
    hold->locks = 0;
    hold->is_lost = false;
    hold->closed = __atomic_load_n(&WATCH_WIPED->closed, __ATOMIC_RELAXED);
    hold->is_alone = quipu_watch_is_alone();
    if (hold->is_alone)
        return;
    hold->events = quipu_watch_events();
    uint64_t first = address >> QUIPU_WATCH_GRANULE_BITS;
    uint64_t last = (end - 1) >> QUIPU_WATCH_GRANULE_BITS;
    if (last - first >= ALL_FROM) {
        for (unsigned i = 0; i < WATCH_WRITE_LOCKS; i++)
            enter(hold, i);
        return;
    }
    unsigned a = number_of(first), b = number_of(last);
    enter(hold, a < b ? a : b);
    if (a != b)
        enter(hold, a < b ? b : a);
}

static bool has(const struct watch_hold *hold, unsigned number) {
    const struct watch_write_lock *lock = &WATCH_WIPED->write_locks[number];
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == thread_pointer() &&
           lock->stack == hold->stack;
}

void quipu_watch_let_go(struct watch_hold *hold) {
    while (hold->locks) {
        unsigned number = (unsigned)__builtin_ctz(hold->locks);
        bool is_own = has(hold, number);
        hold->is_lost |= !is_own;
        hold->locks &= hold->locks - 1;
        if (!is_own)
            continue;
        WATCH_WIPED->write_locks[number].releases++;
        __atomic_store_n(&WATCH_WIPED->write_locks[number].owner, 0, __ATOMIC_RELEASE);
    }
    hold->is_lost |= !hold->is_alone; /* for what is looked at from now on */
}

bool quipu_watch_is_undisturbed(const struct watch_hold *hold, uint64_t address, uint64_t end) {
    if (hold->is_alone)
        return !hold->is_lost &&
               hold->closed == __atomic_load_n(&WATCH_WIPED->closed, __ATOMIC_RELAXED) &&
               quipu_watch_is_alone();
    for (uint32_t rest = hold->locks; rest; rest &= rest - 1) {
        unsigned number = (unsigned)__builtin_ctz(rest);
        if (!has(hold, number) || WATCH_WIPED->write_locks[number].disturbed)
            return false;
    }
    return !hold->is_lost && !quipu_watch_writes_elsewhere(address, end, hold->events);
}
