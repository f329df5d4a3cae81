/* copy.c: the copy of a region's bytes: what a write replaced is taken from it, and it is kept up
 * to date.
 *
 * The old bytes of a write come from its pair, or from the copy if the store was long or is found
 * by comparison. All other bytes of the reported window are the present ones.
 *
 * Invariant: a region is pinned while its copy is read or changed. */
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

enum {
    AROUND = 16, /* a cut window begins at a multiple of this */
    TRIES = 8    /* attempts to find the other calls while no call begins or ends */
};

/* OLD has the SIZE bytes of ADDRESS. Copies those in [FROM, FROM + COUNT) to BYTES, which
 * represents that range. */
static void overlay_piece(uint64_t address, const uint8_t *old, uint64_t size, uint64_t from,
                          uint64_t count, uint8_t *bytes) {
    uint64_t low = greater(address, from), high = lesser(address + size, from + count);
    if (low < high)
        copy_bytes(bytes + (low - from), old + (low - address), high - low);
}

static void overlay(const struct watch_pair *pair, uint64_t from, uint64_t count, uint8_t *bytes) {
    unsigned size = element_size(pair);
    uint64_t mask = pair->mask;
    if (!is_scatter(pair) && !(mask & (mask + 1))) { /* without gaps */
        overlay_piece(pair->address, pair->old, pair->length, from, count, bytes);
        return;
    }
    for (; mask; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctzll(mask);
        if (is_scatter(pair))
            overlay_piece(pair->addresses[i], pair->old + i * size, size, from, count, bytes);
        else
            overlay_piece(pair->address + i, pair->old + i, 1, from, count, bytes);
    }
}

/* ---- Contents ---- */

static uint64_t first_difference(const uint8_t *a, const uint8_t *b, uint64_t count) {
    uint64_t i = 0;
    while (i < count && a[i] == b[i])
        i++;
    return i;
}

/* Sets the window's old and new bytes, from the region's COPY and the write, and updates the copy.
 * Returns whether a byte has changed in the part that this write reports. */
typedef bool fill_function(uint8_t *copy, const struct watch_region *region,
                           const struct watch_write *write, struct watch_window *window,
                           uint8_t *old, uint8_t *now);

/* The intersection of a write and its region. */
struct meeting {
    uint64_t low, high;
    uint8_t *was; /* its bytes in the region's copy */
};

static struct meeting meet(uint8_t *copy, const struct watch_region *region,
                           const struct watch_write *write) {
    uint64_t low = greater(write->address, region->address);
    uint64_t high = lesser(write->address + write->length, region->address + region->size);
    return (struct meeting){low, high, copy + (low - region->address)};
}

/* Sets the window's bytes. Returns the first changed address. If the window cannot show all of the
 * write, it begins there. Outside the write, the window has the present bytes. If a comparison
 * HAS_FOUND the change, it has the last known bytes instead, because later changes are left to the
 * next comparison. */
static uint64_t show(const struct meeting *at, struct watch_window *window, bool has_found,
                     uint8_t *old, uint8_t *now) {
    uint64_t length = at->high - at->low;
    uint64_t changed = at->low + first_difference(at->was, (const uint8_t *)at->low, length);
    bool cut = window->from + window->count < at->high;
    if (cut && changed < at->high)
        window->from =
            lesser(greater(window->from, changed & -(uint64_t)AROUND), at->high - window->count);
    const uint8_t *from = (const uint8_t *)window->from;
    copy_bytes(old, has_found ? at->was + (window->from - at->low) : from, window->count);
    copy_bytes(now, old, window->count);
    overlay_piece(at->low, at->was, length, window->from, window->count, old);
    overlay_piece(at->low, (const uint8_t *)at->low, length, window->from, window->count, now);
    return changed;
}

/* Updates the copy with the reported bytes, so that later changes are still found. A handler that
 * came between the look at the memory and this has updated the bytes that it changed, which stay
 * as they are. */
static void keep(const struct meeting *at, const struct watch_window *window, const uint8_t *old,
                 const uint8_t *now) {
    uint64_t low = greater(at->low, window->from);
    uint64_t high = lesser(at->high, window->from + window->count);
    if (low > at->low || high < at->high)
        copy_bytes(at->was, (const uint8_t *)at->low, at->high - at->low);
    for (uint64_t b = low; b < high; b++) {
        uint8_t known = old[b - window->from], next = now[b - window->from];
        if (known != next)
            __atomic_compare_exchange_n(&at->was[b - at->low], &known, next, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
}

/* Sets the other calls that may have changed the bytes. EVENTS was taken before the bytes were
 * read. Returns whether no call began or ended since. */
static bool find_suspects(const struct watch_region *region, const struct watch_write *write,
                          const struct meeting *at, uint64_t events) {
    bool is_callee = write->cause == QUIPU_CAUSE_CALLEE;
    if (!write->suspects)
        return true;
    quipu_watch_suspect(region, at->low, at->high, write->stack, is_callee, write->named,
                        write->suspects);
    quipu_watch_suspect_skipped(
        is_callee ? write->skipped : __atomic_load_n(&WATCH_QUICK->compared, __ATOMIC_ACQUIRE),
        write->named, write->suspects);
    return quipu_watch_events() == events;
}

/* For a long write: the copy has the old bytes. */
static bool fill_from_copy(uint8_t *copy, const struct watch_region *region,
                           const struct watch_write *write, struct watch_window *window,
                           uint8_t *old, uint8_t *now) {
    struct meeting at = meet(copy, region, write);
    if (write->if_changed && !quipu_watch_is_readable(at.low, at.high))
        return false; /* it is uncertain whether there was a write at all */
    if (region->flags & WATCH_UNKNOWN && write->made != WATCH->made)
        copy_bytes(at.was, (const uint8_t *)at.low, at.high - at.low); /* the region is newer than
                                                                        * the begin: the old bytes
                                                                        * are lost */
    const struct watch_window whole = *window;
    for (unsigned i = 0;; i++) {
        uint64_t events = write->suspects ? quipu_watch_events() : 0;
        *window = whole;
        uint64_t changed = show(&at, window, false, old, now);
        bool is_settled = find_suspects(region, write, &at, events);
        if (!is_settled && i < TRIES)
            continue;
        if (!is_settled)
            write->suspects->more = true;
        keep(&at, window, old, now);
        return changed < at.high;
    }
}

/* Whether an open store or call will report the change. If it is another thread's, it may turn out
 * not to have made the change. */
static bool is_left_to_other(const struct meeting *at, const struct watch_write *write) {
    enum watch_openness open = quipu_watch_is_open(at->low, at->high, write->stack);
    if (open == WATCH_OPEN_ELSEWHERE)
        quipu_watch_count_skipped();
    return open != WATCH_NOT_OPEN;
}

/* For a change that a comparison found: the copy has the old bytes, unless a store or call of
 * another thread will report it, or has just done so. If several threads find the same change, the
 * one that updates its first byte in the copy reports it. */
static bool fill_from_change(uint8_t *copy, const struct watch_region *region,
                             const struct watch_write *write, struct watch_window *window,
                             uint8_t *old, uint8_t *now) {
    const struct watch_window whole = *window;
    struct meeting at = meet(copy, region, write);
    for (unsigned i = 0;; i++) {
        uint64_t closed = __atomic_load_n(&WATCH_WIPED->closed, __ATOMIC_ACQUIRE);
        uint64_t events = write->suspects ? quipu_watch_events() : 0;
        if (!quipu_watch_is_readable(at.low, at.high))
            return false;
        *window = whole;
        uint64_t changed = show(&at, window, true, old, now);
        if (changed == at.high || is_left_to_other(&at, write))
            return false;
        bool is_settled = find_suspects(region, write, &at, events);
        if (__atomic_load_n(&WATCH_WIPED->closed, __ATOMIC_ACQUIRE) != closed ||
            (!is_settled && i < TRIES))
            continue;
        if (!is_settled)
            write->suspects->more = true;
        uint64_t first = changed - window->from;
        if (old[first] == now[first] ||
            !__atomic_compare_exchange_n(at.was + (changed - at.low), &old[first], now[first],
                                         false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return false;
        keep(&at, window, old, now);
        return true;
    }
}

/* Updates the copy KNOWN of the COUNT bytes at MEMORY that differ in OLD and NOW: other bytes may
 * be another thread's, which reports them. A handler may come between the look at the memory and
 * the update. It reports what it writes there itself; but the update would make the copy older than
 * that, so it is repeated until the copy is what the memory is. */
static void follow_memory(uint8_t *known, const uint8_t *memory, const uint8_t *old,
                          const uint8_t *now, uint64_t count) {
    for (uint64_t b = 0; b < count; b++) {
        uint8_t next = now[b];
        if (old[b] == next)
            continue;
        for (unsigned i = 0; i < TRIES; i++) {
            known[b] = next;
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
            uint8_t present = __atomic_load_n(&memory[b], __ATOMIC_RELAXED);
            if (present == next)
                break;
            next = present;
        }
    }
}

static bool fill_from_pair(uint8_t *copy, const struct watch_region *region,
                           const struct watch_write *write, struct watch_window *window,
                           uint8_t *old, uint8_t *now) {
    const uint8_t *memory = (const uint8_t *)window->from;
    copy_bytes(now, memory, window->count);
    copy_bytes(old, now, window->count);
    overlay(write->pair, window->from, window->count, old);
    bool changed = first_difference(old, now, window->count) < window->count;
    if (changed)
        follow_memory(copy + (window->from - region->address), memory, old, now, window->count);
    return changed;
}

struct watch_region *quipu_watch_pin(uint32_t index, uint32_t generation) {
    struct watch_region *region = region_at(index);
    if (!region)
        return NULL;
    __atomic_fetch_add(&region->pins, 1, __ATOMIC_SEQ_CST); /* before the test: a thread that
                                                             * removes the region sees the pin */
    if (region->size && __atomic_load_n(&region->generation, __ATOMIC_SEQ_CST) == generation)
        return region;
    quipu_watch_unpin(region);
    return NULL;
}

void quipu_watch_unpin(struct watch_region *region) {
    __atomic_fetch_sub(&region->pins, 1, __ATOMIC_RELEASE);
}

bool quipu_watch_fill(uint32_t index, const struct watch_region *region,
                      const struct watch_write *write, struct watch_window *window, uint8_t *old,
                      uint8_t *now) {
    struct watch_region *live = quipu_watch_pin(index, region->generation);
    if (!live)
        return false;
    fill_function *fill = write->pair ? fill_from_pair : fill_from_copy;
    if (write->cause == QUIPU_CAUSE_CHANGE)
        fill = fill_from_change;
    bool changed = fill(bytes_of(live), region, write, window, old, now);
    quipu_watch_unpin(live);
    if (quipu_watch_is_doubted(write))
        write->hold->is_lost = true;
    if (write->suspects && write->cause == QUIPU_CAUSE_CALLEE && !write->if_changed)
        *write->suspects = (struct watch_suspects){0}; /* the call has certainly written there */
    return changed || !(write->if_changed || region->flags & QUIPU_REQUEST_CHANGES);
}

static void refresh(uint32_t index, uint64_t address, uint64_t end) {
    struct watch_region region;
    if (!quipu_watch_look(index, address, end, &region))
        return;
    struct watch_region *live = quipu_watch_pin(index, region.generation);
    uint64_t low = greater(address, region.address);
    uint64_t high = lesser(end, region.address + region.size);
    if (!live)
        return;
    quipu_watch_read(bytes_of(live) + (low - region.address), low, high - low);
    quipu_watch_unpin(live);
}

void quipu_watch_refresh(uint64_t address, uint64_t end) {
    uint32_t found[WATCH_BATCH], from = 0;
    unsigned count;
    do {
        count = quipu_watch_find(address, end, from, found);
        for (unsigned i = 0; i < count; i++)
            refresh(found[i], address, end);
        from = count ? found[count - 1] + 1 : 0;
    } while (count == WATCH_BATCH);
}
