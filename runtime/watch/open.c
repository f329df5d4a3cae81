/* open.c: open stores and calls: those between their begin and their end.
 *
 * They are found by stack pointer in sets of a hash table. The table belongs to the process, not to
 * a thread: a handler that switches stacks may end a store in another thread, and threads that the
 * C library did not make need no data of their own. A full set reuses its oldest entry, which was
 * most likely left by longjmp. Such an entry is also reused by the next store or call with its
 * stack pointer.
 *
 * Not perfect: if more than 8 are open whose stack pointers have the same hash, the oldest is
 * lost. */
#include "runtime/watch/watch.h"

enum {
    STALE_BITS = 33 /* a store that was open for so many cycles was left */
};

/* The first members of pairs and calls. */
struct open {
    uint64_t stack;
    uint64_t stamp;
    uint64_t thread;
};

struct table {
    char *first;
    uint32_t size; /* of one entry */
    uint32_t bits; /* logarithm of the number of sets */
};

_Static_assert(WATCH_SETS == 1 << 8 && WATCH_CALL_SETS == 1 << 6, "bits of the tables");

static const struct table pairs = {(char *)WATCH_PAIRS, sizeof(struct watch_pair), 8};
static const struct table calls = {(char *)WATCH_CALLS, sizeof(struct watch_call), 6};

static inline struct open *open_at(const struct table *table, uint64_t stack, unsigned way) {
    uint64_t set = scatter_bits(stack) >> (64 - table->bits);
    return (struct open *)(table->first + (set * WATCH_WAYS + way) * table->size);
}

static struct open *find(const struct table *table, uint64_t stack) {
    for (unsigned i = 0; i < WATCH_WAYS; i++) {
        struct open *open = open_at(table, stack, i);
        if (__atomic_load_n(&open->stack, __ATOMIC_ACQUIRE) == stack)
            return open;
    }
    return NULL;
}

static bool claim(struct open *open, uint64_t from, uint64_t stack) {
    return __atomic_load_n(&open->stack, __ATOMIC_RELAXED) == from &&
           __atomic_compare_exchange_n(&open->stack, &from, stack, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/* Sets *IS_NEW if the entry was free. */
static struct open *claim_any(const struct table *table, uint64_t stack, bool *is_new) {
    for (;;) {
        struct open *oldest = open_at(table, stack, 0);
        for (unsigned i = 0; i < WATCH_WAYS; i++) {
            struct open *open = open_at(table, stack, i);
            if (claim(open, 0, stack)) {
                *is_new = true;
                return open;
            }
            if (open->stamp < oldest->stamp)
                oldest = open;
        }
        uint64_t other = __atomic_load_n(&oldest->stack, __ATOMIC_RELAXED);
        if (other && claim(oldest, other, stack))
            return oldest;
    }
}

static void *take_record(const struct table *table, uint64_t stack, bool *is_new) {
    struct open *open = find(table, stack);
    if (!open)
        open = claim_any(table, stack, is_new);
    open->stamp = __builtin_ia32_rdtsc();
    open->thread = thread_pointer();
    return open;
}

struct watch_pair *quipu_watch_find_pair(uint64_t stack) {
    return (struct watch_pair *)find(&pairs, stack);
}

struct watch_pair *quipu_watch_take_pair(uint64_t stack) {
    bool is_new;
    return take_record(&pairs, stack, &is_new);
}

struct watch_call *quipu_watch_find_call(uint64_t stack) {
    return (struct watch_call *)find(&calls, stack);
}

struct watch_call *quipu_watch_take_call(uint64_t stack) {
    bool is_new = false;
    struct watch_call *call = take_record(&calls, stack, &is_new);
    if (is_new)
        __atomic_fetch_add(&WATCH->calling, 1, __ATOMIC_RELAXED);
    return call;
}

/* The count changes first: a thread that no longer finds the entry open sees the count changed. */
static void close(struct open *open) {
    __atomic_fetch_add(&WATCH_WIPED->closed, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&open->stack, 0, __ATOMIC_RELEASE);
}

void quipu_watch_close_pair(struct watch_pair *pair) {
    close((struct open *)pair);
}

void quipu_watch_close_call(struct watch_call *call) {
    close((struct open *)call);
    __atomic_fetch_sub(&WATCH->calling, 1, __ATOMIC_RELAXED);
}

/* ---- Open stores and calls that report a range ---- */

/* Whether it may still end. Entries that the calling thread left deeper in its stack will not. */
static bool is_alive(const struct open *open, uint64_t stack) {
    uint64_t at = __atomic_load_n(&open->stack, __ATOMIC_ACQUIRE);
    return at && (open->thread != thread_pointer() || at >= stack);
}

static bool overlaps(uint64_t first, uint64_t length, uint64_t address, uint64_t end) {
    uint64_t last = first + length < first ? UINT64_MAX : first + length; /* the length may be
                                                                           * unbounded */
    return first < end && address < last;
}

static bool pair_is_open(const struct watch_pair *pair, uint64_t address, uint64_t end,
                         uint64_t stack) {
    return is_alive((const struct open *)pair, stack) &&
           overlaps(pair->address, pair->length, address, end) &&
           (__builtin_ia32_rdtsc() - pair->stamp) >> STALE_BITS == 0;
}

/* A thread leaves its calls if it is cancelled, or ends in a function that a call calls back. */
static bool is_of_gone_thread(const struct watch_call *call) {
    return call->tid != quipu_watch_thread(quipu_watch_pid()) &&
           quipu_watch_thread_is_gone(call->tid);
}

static bool call_is_open(const struct watch_call *call, uint64_t address, uint64_t end,
                         uint64_t stack) {
    bool meets = false;
    for (unsigned i = 0; i < 3; i++)
        meets |= overlaps(call->ranges[i].address, call->ranges[i].length, address, end);
    return meets && is_alive((const struct open *)call, stack) && !is_of_gone_thread(call);
}

static enum watch_openness whose(const struct open *open) {
    return open->thread == thread_pointer() ? WATCH_OPEN_HERE : WATCH_OPEN_ELSEWHERE;
}

enum watch_openness quipu_watch_is_open(uint64_t address, uint64_t end, uint64_t stack) {
    for (unsigned i = 0; i < WATCH_SETS * WATCH_WAYS; i++)
        if (pair_is_open(&WATCH_PAIRS[i], address, end, stack))
            return whose((const struct open *)&WATCH_PAIRS[i]);
    for (unsigned i = 0; i < WATCH_CALL_SETS * WATCH_WAYS; i++)
        if (call_is_open(&WATCH_CALLS[i], address, end, stack))
            return whose((const struct open *)&WATCH_CALLS[i]);
    return WATCH_NOT_OPEN;
}

/* ---- Calls that were left ---- */

/* Calls that an exception or a longjmp left are deeper in the thread's stack than STACK. While they
 * have records, each return enters the runtime. This is done on one of RARELY requests. */
void quipu_watch_drop_left_calls(uint64_t stack) {
    enum {
        RARELY = 64,
        NEAR = 1 << 20 /* bytes: on the same stack */
    };
    static uint32_t asked;
    if (__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED) % RARELY)
        return;
    for (unsigned i = 0; i < WATCH_CALL_SETS * WATCH_WAYS; i++) {
        struct open *open = (struct open *)&WATCH_CALLS[i];
        uint64_t at = __atomic_load_n(&open->stack, __ATOMIC_ACQUIRE);
        if (at && at < stack && stack - at < NEAR && open->thread == thread_pointer() &&
            claim(open, at, 0))
            __atomic_fetch_sub(&WATCH->calling, 1, __ATOMIC_RELAXED);
    }
}
