/* tell.c: reports a write to handlers of the program, or to the log.
 *
 * A store is reported once to each region that it touches, in the order of the regions' indices.
 * The old bytes come from its pair, or from the region's copy if the store was long. All other
 * bytes of the window are the present ones.
 *
 * While a handler of the program runs, writes of its thread are not reported to handlers, so that
 * handlers do not call each other endlessly. The thread is recorded in a slot, with the address of
 * a word on the stack. The next write reads that word, and recognizes whether the handler has left
 * by longjmp. */
#include "format/data_file.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>

enum {
    SHORT_REGION = 64,   /* up to this size the whole region is shown */
    AROUND = 16,         /* otherwise the write, extended to multiples of this */
    HANDLER_MOST = 256,  /* most bytes that handlers see */
    TRIES = 8,           /* attempts to find the other calls while no call begins or ends */
    STACK_NEAR = 1 << 20 /* within this distance below, addresses are on the same stack */
};

/* ---- Which bytes ---- */

static unsigned element_size(const struct watch_pair *pair) {
    return 1u << QUIPU_STORE_ELEMENT(pair->description);
}

static bool is_scatter(const struct watch_pair *pair) {
    return pair && QUIPU_STORE_KIND(pair->description) == QUIPU_STORE_SCATTER;
}

/* Whether element I of a scatter touches the region. */
static bool element_touches(const struct watch_pair *pair, unsigned i,
                            const struct watch_region *region) {
    return pair->mask >> i & 1 && pair->addresses[i] < region->address + region->size &&
           region->address < pair->addresses[i] + element_size(pair);
}

/* Narrows a scatter to its elements in the region, and a masked store to the bytes that it writes.
 * Returns whether they touch the region. */
static bool narrow(struct watch_write *write, const struct watch_region *region) {
    const struct watch_pair *pair = write->pair;
    uint64_t first = UINT64_MAX, end = 0, touched = 0;
    if (!pair)
        return true;
    if (is_scatter(pair)) {
        for (unsigned i = 0; i < 16; i++)
            if (element_touches(pair, i, region)) {
                first = lesser(first, pair->addresses[i]);
                end = greater(end, pair->addresses[i] + element_size(pair));
            }
        touched = end;
    } else {
        first = pair->address + (unsigned)__builtin_ctzll(pair->mask);
        end = pair->address + 64 - (unsigned)__builtin_clzll(pair->mask);
        touched = pair->mask;
        if (region->address > pair->address)
            touched &= ~(uint64_t)0 << (region->address - pair->address);
        uint64_t rest = region->address + region->size - pair->address;
        if (rest < 64)
            touched &= ((uint64_t)1 << rest) - 1;
    }
    write->address = first;
    write->length = end - first;
    return touched != 0;
}

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

static uint64_t up(uint64_t address, uint64_t multiple) {
    return (address + multiple - 1) & -multiple;
}

/* Chooses the part of the write in the region, and some bytes around it. It contains no page
 * outside the write, since that may be unreadable. */
static struct watch_window choose_window(const struct watch_region *region,
                                         const struct watch_write *write, uint64_t most) {
    uint64_t end = region->address + region->size;
    uint64_t low = greater(write->address, region->address);
    uint64_t high = lesser(write->address + write->length, end);
    bool is_short = region->size <= SHORT_REGION;
    uint64_t first = greater(is_short ? 0 : low & -(uint64_t)AROUND, low & -(uint64_t)QUIPU_PAGE);
    uint64_t last = lesser(is_short ? UINT64_MAX : up(high, AROUND), up(high, QUIPU_PAGE));
    first = greater(first, region->address);
    return (struct watch_window){first, lesser(lesser(last, end) - first, most)};
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

/* Updates the copy with the reported bytes, so that later changes are still found. */
static void keep(const struct meeting *at, const struct watch_window *window, const uint8_t *now) {
    uint64_t low = greater(at->low, window->from);
    uint64_t high = lesser(at->high, window->from + window->count);
    if (low > at->low || high < at->high)
        copy_bytes(at->was, (const uint8_t *)at->low, at->high - at->low);
    if (low < high)
        copy_bytes(at->was + (low - at->low), now + (low - window->from), high - low);
}

/* Sets the other calls that may have changed the bytes. EVENTS was taken before the bytes were
 * read. Returns whether no call began or ended since. */
static bool find_suspects(const struct watch_region *region, const struct watch_write *write,
                          const struct meeting *at, uint64_t events) {
    bool is_callee = write->cause == QUIPU_CAUSE_CALLEE;
    if (!write->suspects)
        return true;
    quipu_watch_suspect(region, at->low, at->high, write->stack, is_callee, write->suspects);
    quipu_watch_suspect_skipped(
        is_callee ? write->skipped : __atomic_load_n(&WATCH_QUICK->compared, __ATOMIC_ACQUIRE),
        write->suspects);
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
        keep(&at, window, now);
        return changed < at.high;
    }
}

/* Whether an open store or call will report the change. If it is another thread's, it may turn out
 * not to have made the change. */
static bool is_left_to_other(const struct meeting *at, const struct watch_write *write) {
    enum watch_openness open = quipu_watch_is_open(at->low, at->high, write->stack);
    if (open == WATCH_OPEN_ELSEWHERE)
        quipu_watch_note_skipped();
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
        keep(&at, window, now);
        return true;
    }
}

static bool fill_from_pair(uint8_t *copy, const struct watch_region *region,
                           const struct watch_write *write, struct watch_window *window,
                           uint8_t *old, uint8_t *now) {
    copy_bytes(now, (const uint8_t *)window->from, window->count);
    copy_bytes(old, now, window->count);
    overlay(write->pair, window->from, window->count, old);
    bool changed = first_difference(old, now, window->count) < window->count;
    uint8_t *known = copy + (window->from - region->address);
    for (uint64_t i = 0; changed && i < window->count; i++)
        if (old[i] != now[i]) /* other bytes may be another thread's, which reports them */
            known[i] = now[i];
    return changed;
}

struct watch_region *quipu_watch_pin(uint32_t index, uint32_t generation) {
    struct watch_region *region = region_at(index);
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

/* ---- Handlers of the program ---- */

/* Whether the frame with its word at FRAME still exists. It does if the calling frame is deeper in
 * the same stack, or on another stack and the word is intact. */
static bool is_inside(uint64_t frame) {
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    if (here > frame && here - frame < STACK_NEAR)
        return false;
    uint64_t word = 0;
    return here < frame ||
           (quipu_watch_read(&word, frame, sizeof word) == sizeof word && word == WATCH_MAGIC);
}

/* Takes a slot that belongs to OWNER. */
static struct watch_handler *take_slot(uint64_t owner, uint64_t thread) {
    uint64_t first = scatter_bits(thread) >> 56;
    for (uint64_t i = 0; i < WATCH_HANDLERS; i++) {
        struct watch_handler *slot = WATCH_CALLS_OF + (first + i) % WATCH_HANDLERS;
        uint64_t expected = owner;
        if (__atomic_load_n(&slot->thread, __ATOMIC_RELAXED) == owner &&
            __atomic_compare_exchange_n(&slot->thread, &expected, thread, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return slot;
    }
    return NULL;
}

/* Returns a slot for the thread, or NULL if the thread is in a handler. If all slots are in use,
 * waits for one. */
static struct watch_handler *enter_handler(uint64_t frame) {
    uint64_t thread = thread_pointer();
    struct watch_handler *slot = take_slot(thread, thread);
    if (slot && is_inside(slot->frame))
        return NULL;
    while (!slot && !(slot = take_slot(0, thread)))
        SYSTEM_CALL(sched_yield, 0, 0, 0, 0, 0, 0);
    slot->frame = frame;
    return slot;
}

void quipu_watch_forget_handlers(void) {
    for (uint64_t i = 0; i < WATCH_HANDLERS; i++)
        if (WATCH_CALLS_OF[i].thread != thread_pointer())
            WATCH_CALLS_OF[i].thread = 0;
}

static __attribute__((noinline)) void
call_handler(uint32_t index, const struct watch_region *region, const struct watch_write *write) {
    volatile uint64_t frame = WATCH_MAGIC;
    uint8_t old[HANDLER_MOST], now[HANDLER_MOST];
    struct watch_window window = choose_window(region, write, HANDLER_MOST);
    bool tell = quipu_watch_fill(index, region, write, &window, old, now);
    bool exact = quipu_watch_is_exact(region, write);
    quipu_watch_let_go(write->hold);
    struct watch_handler *slot = tell ? enter_handler((uint64_t)&frame) : NULL;
    if (!slot)
        return;
    struct quipu_write told = {.region = (const void *)region->address,
                               .region_size = region->size,
                               .address = (const void *)write->address,
                               .size = write->length,
                               .old_bytes = old,
                               .new_bytes = now,
                               .offset = window.from - region->address,
                               .told = window.count,
                               .pc = (const void *)write->pc,
                               .exact = exact,
                               .undecided = quipu_watch_is_doubted(write)};
    quipu_call_handler(region->handler, &told, region->argument);
    frame = 0;
    __atomic_store_n(&slot->thread, 0, __ATOMIC_RELEASE);
}

/* ---- All regions of a write ---- */

static uint64_t most_told(const struct watch_region *region) {
    return region->flags & QUIPU_REQUEST_MORE ? QUIPU_TOLD_MORE : QUIPU_TOLD_MAX;
}

static void tell_region(uint32_t index, const struct watch_region *region,
                        const struct watch_write *write) {
    if (region->handler && !(region->flags & (WATCH_BLOCK | WATCH_LOCAL)))
        call_handler(index, region, write);
    else
        quipu_watch_log(index, region, write, choose_window(region, write, most_told(region)));
}

void quipu_watch_tell(uint32_t index, const struct watch_write *write) {
    struct watch_region region;
    struct watch_write narrowed = *write;
    if (!quipu_watch_look(index, write->address, write->address + write->length, &region) ||
        !narrow(&narrowed, &region))
        return;
    if (region.flags & WATCH_LOCAL && quipu_watch_is_left(&region))
        return;
    struct watch_hold hold;
    struct watch_suspects suspects = {0};
    if (!narrowed.hold) {
        uint64_t low = greater(write->address, region.address);
        uint64_t high = lesser(write->address + write->length, region.address + region.size);
        quipu_watch_hold(&hold, low, high, (uint64_t)__builtin_frame_address(0));
        hold.is_lost |= !hold.is_alone && !write->is_sure;
        narrowed.hold = &hold;
        narrowed.suspects = &suspects;
    }
    tell_region(index, &region, &narrowed);
    if (!write->hold)
        quipu_watch_let_go(&hold);
}

/* Reports to the regions that [ADDRESS, END) touches, except those that an element of a scatter
 * below EARLIER touches. */
static void tell_range(uint64_t address, uint64_t end, const struct watch_write *write,
                       unsigned earlier) {
    uint32_t found[WATCH_BATCH], from = 0;
    unsigned count;
    do {
        count = quipu_watch_find(address, end, from, found);
        for (unsigned i = 0; i < count; i++) {
            bool told = false;
            for (unsigned j = 0; j < earlier && !told; j++)
                told = element_touches(write->pair, j, region_at(found[i]));
            if (!told)
                quipu_watch_tell(found[i], write);
        }
        from = count ? found[count - 1] + 1 : 0;
    } while (count == WATCH_BATCH);
}

void quipu_watch_tell_all(const struct watch_write *write) {
    const struct watch_pair *pair = write->pair;
    if (!is_scatter(pair)) {
        tell_range(write->address, write->address + write->length, write, 0);
        return;
    }
    for (unsigned i = 0; i < 16; i++)
        if (pair->mask >> i & 1)
            tell_range(pair->addresses[i], pair->addresses[i] + element_size(pair), write, i);
}

/* ---- Functions of quipu.h ---- */

int64_t quipu_runtime_watch(uint64_t address, uint64_t size, uint64_t handler, uint64_t argument) {
    return handler ? quipu_watch_add(address, size, handler, argument, 0) : -EINVAL;
}

int quipu_runtime_unwatch(int64_t id) {
    return quipu_watch_remove(id);
}
