/* report.c: reports a write to handlers of the program, or to the log.
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
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>

enum {
    SHORT_REGION = 64,   /* up to this size the whole region is shown */
    AROUND = 16,         /* otherwise the write, extended to multiples of this */
    HANDLER_MOST = 256,  /* most bytes that handlers see */
    STACK_NEAR = 1 << 20 /* within this distance below, addresses are on the same stack */
};

/* ---- Which bytes ---- */

/* Whether element I of a scatter touches the region. */
static bool element_touches(const struct watch_pair *pair, unsigned i,
                            const struct watch_region *region) {
    return pair->mask >> i & 1 && pair->addresses[i] < region->address + region->size &&
           region->address < pair->addresses[i] + element_size(pair);
}

/* Narrows a scatter to its elements in the region, and a masked store to the bytes that it writes.
 * Returns whether they touch the region. */
static bool narrow_write(struct watch_write *write, const struct watch_region *region) {
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
    struct quipu_write hit = {.region = (const void *)region->address,
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
    quipu_call_handler(region->handler, &hit, region->argument);
    frame = 0;
    __atomic_store_n(&slot->thread, 0, __ATOMIC_RELEASE);
}

/* ---- All regions of a write ---- */

static uint64_t most_shown(const struct watch_region *region) {
    return region->flags & QUIPU_REQUEST_MORE ? QUIPU_TOLD_MORE : QUIPU_TOLD_MAX;
}

static void report_region(uint32_t index, const struct watch_region *region,
                          const struct watch_write *write) {
    if (region->handler && !(region->flags & (WATCH_BLOCK | WATCH_LOCAL)))
        call_handler(index, region, write);
    else
        quipu_watch_log(index, region, write, choose_window(region, write, most_shown(region)));
}

void quipu_watch_report(uint32_t index, const struct watch_write *write) {
    struct watch_region region;
    struct watch_write narrowed = *write;
    if (!quipu_watch_look(index, write->address, write->address + write->length, &region) ||
        !narrow_write(&narrowed, &region))
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
    report_region(index, &region, &narrowed);
    if (!write->hold)
        quipu_watch_let_go(&hold);
}

/* Reports to the regions that [ADDRESS, END) touches, except those that an element of a scatter
 * below EARLIER touches. */
static void report_range(uint64_t address, uint64_t end, const struct watch_write *write,
                         unsigned earlier) {
    uint32_t found[WATCH_BATCH], from = 0;
    unsigned count;
    do {
        count = quipu_watch_find(address, end, from, found);
        for (unsigned i = 0; i < count; i++) {
            bool reported = false;
            for (unsigned j = 0; j < earlier && !reported; j++)
                reported = element_touches(write->pair, j, region_at(found[i]));
            if (!reported)
                quipu_watch_report(found[i], write);
        }
        from = count ? found[count - 1] + 1 : 0;
    } while (count == WATCH_BATCH);
}

void quipu_watch_report_all(const struct watch_write *write) {
    const struct watch_pair *pair = write->pair;
    if (!is_scatter(pair)) {
        report_range(write->address, write->address + write->length, write, 0);
        return;
    }
    for (unsigned i = 0; i < 16; i++)
        if (pair->mask >> i & 1)
            report_range(pair->addresses[i], pair->addresses[i] + element_size(pair), write, i);
}

/* ---- Functions of quipu.h ---- */

int64_t quipu_runtime_watch(uint64_t address, uint64_t size, uint64_t handler, uint64_t argument) {
    return handler ? quipu_watch_add(address, size, handler, argument, 0) : -EINVAL;
}

int quipu_runtime_unwatch(int64_t id) {
    struct watch_range range;
    if (quipu_watch_range_of(id, &range))
        quipu_watch_compare_ending(range.address, range.address + range.length,
                                   (uint64_t)__builtin_frame_address(0));
    return quipu_watch_remove(id);
}
