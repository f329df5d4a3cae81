/* quick.c: makes calls of code without checks cheap while something is watched.
 *
 * Most regions are variables of an instrumented module, or in the heap of brk. Variables are
 * readable while the module is loaded, and the heap is up to the break, so the kernel need not be
 * asked. After an unknown call, entry.S compares only a few words. The C library's own data, in its
 * heap and in buffers of streams, is never in variables. If all regions are variables, most calls
 * of the C library need nothing. Otherwise regions are compared after such calls, too.
 *
 * Both assumptions end when the program calls mprotect, setvbuf or similar functions. Those calls
 * are reported even while nothing is watched.
 *
 * Invariants, whenever the lock is not held
 *   - `library` is not 0 if any region may be in the C library's own memory. `begins` is not 0 if
 *     the begin of an unknown call must be reported, and `library_begins` if that of a call that
 *     writes only the library's memory must be.
 *   - The pieces contain all bytes of all regions, or there are none.
 *
 * Not perfect: it is not seen if code without checks, or a system call in inline assembly, makes a
 * variable unreadable, or gives one to the C library as its own. */
#include "runtime/watch/watch.h"

enum {
    BOUNDS_OF = 64, /* with at most so many regions, a removal computes the bounds anew */
    RARELY = 32     /* factor of a comparison's duration */
};

static uint64_t end_of(const struct watch_region *region) {
    return region->address + region->size;
}

static void list_piece(struct watch_quick *quick, uint64_t at, uint64_t size,
                       const uint8_t *known) {
    if (size == sizeof(uint64_t)) {
        struct watch_word *word = &quick->whole[quick->words];
        __atomic_store_n(&word->known, (const uint64_t *)known, __ATOMIC_RELEASE);
        __atomic_store_n(&word->address, (const uint64_t *)at, __ATOMIC_RELEASE);
        __atomic_store_n(&quick->words, quick->words + 1, __ATOMIC_RELEASE);
        return;
    }
    struct watch_piece *piece = &quick->pieces[quick->rest];
    __atomic_store_n(&piece->place, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&piece->known, known, __ATOMIC_RELEASE);
    __atomic_store_n(&piece->place, at << PIECE_BITS | size, __ATOMIC_RELEASE);
    __atomic_store_n(&quick->rest, quick->rest + 1, __ATOMIC_RELEASE);
}

/* Lists the bytes of a region as pieces. Returns the new number of pieces; above QUICK_MOST they
 * are too many. */
static uint32_t list_pieces(struct watch_quick *quick, uint32_t count,
                            struct watch_region *region) {
    const uint8_t *known = bytes_of(region);
    uint64_t end = end_of(region);
    for (uint64_t at = region->address; at < end && count <= QUICK_MOST; count++) {
        uint64_t next = lesser(end, (at | (PIECE_MOST - 1)) + 1);
        if (count < QUICK_MOST)
            list_piece(quick, at, next - at, known);
        known += next - at;
        at = next;
    }
    return count;
}

/* Whether glibc's variable has the break, so that the kernel need not be asked. */
static bool has_break(void) {
    return WATCH_QUICK->break_at != &WATCH_QUICK->heap_end;
}

static void list_regions(void) {
    struct watch *watch = WATCH;
    struct watch_quick *quick = WATCH_QUICK;
    uint32_t count = 0;
    quick->heap_end = 0;
    __atomic_store_n(&quick->words, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&quick->rest, 0, __ATOMIC_RELEASE);
    if (watch->unsteady || watch->doubted & WATCH_STEADY || watch->unread ||
        watch->used > WATCH_FEW)
        return;
    for (uint32_t i = 0; i < watch->used; i++)
        if (region_at(i)->size) {
            const struct watch_region *region = region_at(i);
            if (region->flags & WATCH_HEAP)
                quick->heap_end = greater(quick->heap_end, end_of(region));
            count = list_pieces(quick, count, region_at(i));
        }
    if (count <= QUICK_MOST)
        __atomic_store_n(&quick->count, count, __ATOMIC_RELEASE);
}

void quipu_watch_settle(void) {
    struct watch *watch = WATCH;
    bool library =
        watch->shared || watch->heaps_active || (watch->doubted & WATCH_OWN && watch->count);
    __atomic_store_n(&watch->library, library, __ATOMIC_RELEASE);
    bool ranges_begin = watch->unread || watch->freed_blocks;
    __atomic_store_n(&WATCH_QUICK->ranges_begin, ranges_begin, __ATOMIC_RELEASE);
    if (watch->armed && (watch->guards || !quipu_watch_is_alone()))
        __atomic_store_n(&WATCH_QUICK->tracks, 1, __ATOMIC_RELEASE);
    bool begins = ranges_begin || WATCH_QUICK->tracks;
    __atomic_store_n(&watch->begins, begins, __ATOMIC_RELEASE);
    bool within_begins = begins || watch->count > WATCH_FEW;
    __atomic_store_n(&WATCH_QUICK->within_begins, within_begins, __ATOMIC_RELEASE);
    bool library_begins = (library && begins) || watch->heaps_active;
    __atomic_store_n(&watch->library_begins, library_begins, __ATOMIC_RELEASE);
    /* Errors are ignored: the text could be changed earlier, and the next settling tries again. */
    quipu_watch_arm_calls((begins ? WATCH_ASKS_BEGINS : 0) | (library ? WATCH_ASKS_LIBRARY : 0) |
                          (library_begins ? WATCH_ASKS_LIBRARY_BEGINS : 0));
    if (!watch->unsettled)
        return;
    __atomic_store_n(&WATCH_QUICK->count, 0, __ATOMIC_RELEASE);
    if (watch->count <= WATCH_FEW)
        WATCH_QUICK->until = 0;
}

void quipu_watch_give_lock(void) {
    quipu_watch_settle();
    quipu_watch_release_lock();
}

void quipu_watch_unlock(uint64_t mask) {
    quipu_watch_give_lock();
    restore_signals(mask);
}

void quipu_watch_list_pieces(void) {
    if (!__atomic_load_n(&WATCH->unsettled, __ATOMIC_RELAXED) || is_forking())
        return;
    uint64_t mask = quipu_watch_lock();
    if (WATCH->unsettled)
        list_regions();
    WATCH->unsettled = false;
    quipu_watch_unlock(mask);
}

/* ---- Regions ---- */

/* Whether a stream has a buffer that overlaps [ADDRESS, END). */
static bool is_given(uint64_t address, uint64_t end) {
    return overlaps_any(WATCH->given, WATCH->given_count, address, end);
}

/* Sets the bounds of all regions to [LOWEST, HIGHEST). */
static void set_bounds(uint64_t lowest, uint64_t highest) {
    struct watch_quick *quick = WATCH_QUICK;
    quick->lowest = lowest;
    quick->highest = highest;
    quick->far = QUIPU_WATCH_FAR_BYTES + QUIPU_WATCH_FAR_MORE + (highest - lowest);
    quick->highest_wide = highest + QUIPU_WATCH_WIDE_BYTES;
}

/* Sets the bounds of regions that may be in a stack. If a stack is known in variables, the heap or
 * frames, any region may be in one. */
static void set_stack_bounds(uint64_t lowest, uint64_t highest) {
    struct watch_quick *quick = WATCH_QUICK;
    bool is_known = !WATCH->stacks_anywhere && !WATCH->stack_count;
    quick->stack_lowest = is_known ? lowest : 0;
    quick->stack_highest = is_known ? highest + QUIPU_WATCH_SPAN : UINT64_MAX;
}

/* Widens the bounds for a region that will be added. */
static void widen_bounds(const struct watch_region *region) {
    const struct watch_quick *quick = WATCH_QUICK;
    if (!WATCH->count) {
        set_bounds(region->address, end_of(region));
        set_stack_bounds(UINT64_MAX, 0);
    } else {
        set_bounds(lesser(quick->lowest, region->address), greater(quick->highest, end_of(region)));
    }
    if (!(region->flags & WATCH_APART))
        set_stack_bounds(lesser(quick->stack_lowest, region->address),
                         greater(quick->stack_highest - QUIPU_WATCH_SPAN, end_of(region)));
}

/* Whether the bounds may become narrower without [ADDRESS, END). */
static bool makes_bounds(uint64_t address, uint64_t end) {
    const struct watch_quick *quick = WATCH_QUICK;
    return address == quick->lowest || end == quick->highest || address == quick->stack_lowest ||
           end + QUIPU_WATCH_SPAN == quick->stack_highest;
}

void quipu_watch_narrow_bounds(uint64_t address, uint64_t end) {
    const struct watch *watch = WATCH;
    uint64_t lowest = UINT64_MAX, highest = 0, stack_lowest = UINT64_MAX, stack_highest = 0;
    if (!watch->count || watch->used > BOUNDS_OF || !makes_bounds(address, end))
        return;
    for (uint32_t i = 0; i < watch->used; i++) {
        const struct watch_region *region = region_at(i);
        if (!region->size)
            continue;
        lowest = lesser(lowest, region->address);
        highest = greater(highest, end_of(region));
        if (region->flags & WATCH_APART)
            continue;
        stack_lowest = lesser(stack_lowest, region->address);
        stack_highest = greater(stack_highest, end_of(region));
    }
    set_bounds(lowest, highest);
    set_stack_bounds(stack_lowest, stack_highest);
}

void quipu_watch_forget_stack_bounds(void) {
    set_stack_bounds(0, UINT64_MAX - QUIPU_WATCH_SPAN);
}

void quipu_watch_classify(struct watch_region *region) {
    struct watch *watch = WATCH;
    uint64_t end = end_of(region);
    uint16_t kind = quipu_watch_kind_of_variable(region->address, region->size);
    bool in_heap = quipu_watch_is_in_heap(region->address, end);
    if (kind || in_heap)
        region->flags |= WATCH_APART;
    if (!watch->pages_hidden)
        region->flags |= kind;
    if (!watch->pages_hidden && has_break() && in_heap)
        region->flags |= WATCH_STEADY | WATCH_HEAP;
    /* the used part of a stack stays mapped, and the library writes there only where it is told
     * to */
    if (!watch->pages_hidden && quipu_watch_is_in_use_on_stack(region->address, end))
        region->flags |= region->flags & WATCH_LOCAL ? WATCH_STEADY | WATCH_OWN : WATCH_STEADY;
    if (is_given(region->address, end))
        region->flags &= (uint16_t)~WATCH_OWN;
    if (!watch->count)
        watch->doubted = 0;
    watch->unsteady += !(region->flags & WATCH_STEADY);
    watch->shared += !(region->flags & WATCH_OWN);
    widen_bounds(region);
    watch->unsettled = true;
}

void quipu_watch_declassify(struct watch_region *region) {
    struct watch *watch = WATCH;
    watch->unsteady -= !(region->flags & WATCH_STEADY);
    watch->shared -= !(region->flags & WATCH_OWN);
    watch->unsettled = true;
}

static void take_flags_of_each(uint64_t begin, uint64_t end, unsigned flags) {
    struct watch *watch = WATCH;
    for (uint32_t i = 0; i < watch->used; i++) {
        struct watch_region *region = region_at(i);
        if (!region->size || region->address >= end || end_of(region) <= begin)
            continue;
        quipu_watch_declassify(region);
        region->flags &= (uint16_t)~flags;
        watch->unsteady += !(region->flags & WATCH_STEADY);
        watch->shared += !(region->flags & WATCH_OWN);
    }
}

/* Clears FLAGS of the regions in [BEGIN, END). If there are many regions, marks the flags as
 * doubted for all: otherwise the end of a program, which comes here for each module, would write
 * the record of each region. */
static void take_flags(uint64_t begin, uint64_t end, unsigned flags) {
    struct watch *watch = WATCH;
    if (!watch->count || begin >= end || !quipu_watch_is_marked(begin, end))
        return;
    if (watch->used <= WATCH_FEW) {
        take_flags_of_each(begin, end, flags);
    } else {
        __atomic_or_fetch(&watch->doubted, flags, __ATOMIC_RELEASE);
        watch->unsettled = true;
    }
    quipu_watch_settle(); /* now, since the memory may soon be unmapped */
}

void quipu_watch_unsteady(uint64_t begin, uint64_t end) {
    take_flags(begin, end, WATCH_STEADY | WATCH_OWN);
}

bool quipu_watch_may_reach(uint64_t address, uint64_t length) {
    const struct watch_quick *quick = WATCH_QUICK;
    uint64_t end = address + length;
    return length && (end <= address || (end > quick->lowest && address < quick->highest));
}

bool quipu_watch_may_touch(uint64_t address, uint64_t length) {
    return quipu_watch_may_reach(address, length) &&
           (address + length <= address || quipu_watch_is_marked(address, address + length));
}

/* A watched block belongs to the program until it is freed. */
bool quipu_watch_may_be_library(const struct watch_region *region) {
    bool is_block = region->flags & WATCH_BLOCK && !(region->flags & WATCH_FREED);
    if (is_block)
        return is_given(region->address, end_of(region));
    return !(region->flags & ~__atomic_load_n(&WATCH->doubted, __ATOMIC_RELAXED) & WATCH_OWN);
}

/* ---- Calls that change what memory is used for ---- */

void quipu_watch_note_stream(uint64_t address, uint64_t length) {
    struct watch *watch = WATCH;
    uint64_t mask = quipu_watch_lock();
    struct watch_range range = {address, lesser(length, ADDRESSES_END)};
    if (watch->given_count == WATCH_GIVEN)
        watch->given[0] = range = (struct watch_range){0, ADDRESSES_END};
    else if (!is_given(address, address + length))
        watch->given[watch->given_count++] = range;
    take_flags(range.address, range.address + range.length, WATCH_OWN);
    quipu_watch_unlock(mask);
}

void quipu_watch_note_pages(uint64_t address, uint64_t length) {
    uint64_t mask = quipu_watch_lock();
    bool is_ours = quipu_watch_overlaps_module(address, address + length) ||
                   quipu_watch_is_in_use_on_stack(address, address + 1) ||
                   quipu_watch_is_in_use_on_stack(address + length - 1, address + length) ||
                   quipu_watch_overlaps_heap(address, address + length);
    if (!WATCH->pages_hidden && is_ours) {
        WATCH->pages_hidden = true;
        quipu_watch_unsteady(0, UINT64_MAX);
    }
    quipu_watch_unlock(mask);
}

/* ---- Comparisons of many regions ---- */

void quipu_watch_put_off_comparison(uint64_t begin) {
    struct watch_quick *quick = WATCH_QUICK;
    uint64_t end = __builtin_ia32_rdtsc(), until = end + RARELY * (end - begin);
    if (WATCH->count > WATCH_FEW && quick->until < until)
        quick->until = until;
}
