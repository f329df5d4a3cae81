/* compare.c: finds what code without checks has written, by comparison of regions with their
 * copies.
 *
 * All regions are compared after each unknown call. A change that is found may be due to another
 * call; running.c decides.
 *
 * Many regions are compared only long after the last comparison, or the last reading of new
 * regions, in which nothing can have changed: otherwise comparisons would take most of the time. A
 * later comparison finds the change, and the last one is made when the program ends.
 *
 * Before a block is freed or moved, a function or thread ends, memory is unmapped, or the program
 * overwrites what is watched, it is compared if that was put off.
 *
 * Not perfect: bytes that were changed and changed back are not reported. If a signal ends the
 * program, there is no last comparison; nor is there one of locals that an exception or longjmp has
 * left, or whose frame was freed before its function's end is reported. */
#include "runtime/watch/watch.h"

#include "format/watch_callees.h"

enum {
    WORD = 8,
};

static bool words_differ(const uint8_t *now, const uint8_t *known) {
    uint64_t a, b;
    __builtin_memcpy(&a, now, sizeof a);
    __builtin_memcpy(&b, known, sizeof b);
    return a != b;
}

/* Looks at the bytes of the region in RANGE, and sets it to the first through the last changed
 * byte. The region is pinned. *READABLE is 1 + the last page that was found readable, or 0: regions
 * are often adjacent. */
static bool compare(const struct watch_region *region, const uint8_t *known, uint64_t *readable,
                    struct watch_range *range) {
    uint64_t first = UINT64_MAX, end = 0;
    uint64_t low = greater(range->address, region->address) - region->address;
    uint64_t high = lesser(range->address + range->length - region->address, region->size);
    for (uint64_t at = low; at < high;) {
        uint64_t address = region->address + at, page = address / QUIPU_PAGE;
        uint64_t next = lesser(high, (page + 1) * QUIPU_PAGE - region->address);
        if (page + 1 != *readable && !quipu_watch_is_steady(region) &&
            !quipu_watch_is_readable(address, address + 1))
            break;
        *readable = page + 1;
        for (const uint8_t *now = (const uint8_t *)address; at < next;) {
            if (next - at >= WORD && !words_differ(now, known + at)) {
                at += WORD;
                now += WORD;
                continue;
            }
            if (*now != known[at]) {
                first = lesser(first, at);
                end = at + 1;
            }
            at++;
            now++;
        }
    }
    *range = (struct watch_range){region->address + first, end - first};
    return end != 0;
}

/* Whether an argument of the call points into the region, and did so when that was freed already.
 */
static bool is_given_freed(const struct watch_call *call, const struct watch_region *region) {
    for (unsigned i = 0; i < sizeof call->arguments / sizeof *call->arguments; i++)
        if (call->given_freed >> i & 1 && call->arguments[i] - region->address < region->size)
            return true;
    return false;
}

/* Whether the call itself may have changed the region. A freed block belongs to the allocator, and
 * the C library may use its memory for anything, unless the call was given the address. A call that
 * was given a block and freed it has not written into it: the allocator has. */
static bool is_to_compare(const struct watch_call *call, const struct watch_region *region) {
    if (!region->size || region->flags & WATCH_UNKNOWN)
        return false;
    if (quipu_watch_is_allocator(call->callee))
        return !(region->flags & WATCH_BLOCK);
    if (quipu_watch_reach(call->callee) == WATCH_REACHES_LIBRARY &&
        quipu_watch_knows_ranges(call->callee) && !quipu_watch_may_be_library(region))
        return false;
    return !(region->flags & WATCH_FREED) || is_given_freed(call, region);
}

static bool has_changed(const struct watch_call *call, uint32_t index, uint64_t *readable,
                        struct watch_range *range) {
    const struct watch_region *region = region_at(index);
    if (!is_to_compare(call, region))
        return false;
    struct watch_region *live = quipu_watch_pin(index, region->generation);
    bool changed = live && compare(live, bytes_of(live), readable, range);
    if (live)
        quipu_watch_unpin(live);
    return changed;
}

/* The call for which changes are reported. */
struct place {
    uint64_t pc;
    uint64_t named; /* as in struct watch_write; if it is not 0, the thread is not there any more */
};

/* Reports what has changed in region INDEX, in RANGE. */
static void report_change(const struct watch_call *call, uint32_t index, struct watch_range range,
                          const struct place *place, uint64_t *readable) {
    if (!has_changed(call, index, readable, &range))
        return;
    struct watch_write write = {.address = range.address,
                                .length = range.length,
                                .pc = place->pc,
                                .place = place->named ? 0 : place->pc,
                                .cause = QUIPU_CAUSE_CHANGE,
                                .if_changed = true,
                                .pair = NULL,
                                .made = WATCH->made,
                                .stack = call->stack,
                                .named = place->named,
                                .is_sure = true};
    quipu_watch_report(index, &write);
    *readable = 0; /* a handler may have changed the mapping */
}

static void compare_all(const struct watch_call *call, const struct place *place) {
    const struct watch_range everything = {0, ADDRESSES_END};
    uint64_t readable = 0;
    uint32_t skipped = __atomic_load_n(&WATCH_QUICK->skipped, __ATOMIC_ACQUIRE);
    const uint32_t *end =
        quipu_watch_is_allocator(call->callee) ? &WATCH->others_end : &WATCH->used;
    for (uint32_t i = 0; i < __atomic_load_n(end, __ATOMIC_ACQUIRE); i++)
        report_change(call, i, everything, place, &readable);
    if (quipu_watch_reach(call->callee) == WATCH_REACHES_ALL)
        __atomic_store_n(&WATCH_QUICK->compared, skipped, __ATOMIC_RELEASE);
}

void quipu_watch_compare(const struct watch_call *call, uint64_t stub) {
    struct watch_quick *quick = WATCH_QUICK;
    if (WATCH->stacks_apart && !quipu_watch_is_alone())
        quipu_watch_note_threads();
    if (!quick->tracks && !quipu_watch_is_alone())
        quipu_watch_unlock(quipu_watch_lock());
    const struct place place = {.pc = quipu_watch_place_of_return(stub)};
    if (WATCH->count <= WATCH_FEW) {
        quipu_watch_list_pieces();
        compare_all(call, &place);
        return;
    }
    uint64_t begin = __builtin_ia32_rdtsc();
    if (begin < quick->until) {
        quipu_watch_note_skipped(stub, 0);
        return;
    }
    compare_all(call, &place);
    quipu_watch_put_off_comparison(begin);
}

static bool has_skipped(void) {
    const struct watch_quick *quick = WATCH_QUICK;
    return WATCH->armed && quick->skipped_call && quick->skipped != quick->compared;
}

/* Finds the last call that was not followed by a comparison. Returns false if there is none. */
static bool find_skipped(struct place *place) {
    uint64_t skipped = WATCH_QUICK->skipped_call;
    if (!skipped || !has_skipped())
        return false;
    uint64_t stub = skipped & (((uint64_t)1 << 48) - 1);
    uint32_t descriptor = (uint32_t)(skipped >> 48 << 16);
    *place = (struct place){.pc = descriptor ? quipu_watch_place_of_call(stub, descriptor)
                                             : quipu_watch_place_of_return(stub),
                            .named = stub};
    return true;
}

/* Finds the call that may have written to the region, and has called back what runs now. */
static bool find_outer(uint32_t index, const struct watch_range *range, uint64_t stack,
                       struct place *place) {
    struct watch_running_call outer;
    struct watch_region region;
    uint64_t end = range->address + range->length;
    if (!quipu_watch_look(index, range->address, end, &region) ||
        !quipu_watch_find_outer(&region, range->address, end, stack, &outer))
        return false;
    *place = (struct place){.pc = quipu_watch_place_of_call(outer.stub, outer.descriptor),
                            .named = outer.stub};
    return true;
}

bool quipu_watch_is_put_off(void) {
    return has_skipped() || WATCH_QUICK->tracks;
}

/* Compares what is watched in [ADDRESS, END): of regions longer than WHOLE, only the part there. */
static void compare_there(uint64_t address, uint64_t end, uint64_t stack, uint64_t whole) {
    const struct watch_call call = {.stack = stack};
    const struct watch_range range = {address, end - address}, everything = {0, ADDRESSES_END};
    struct place place;
    uint32_t found[WATCH_BATCH], from = 0;
    unsigned count;
    uint64_t readable = 0;
    if (!quipu_watch_is_put_off())
        return;
    bool is_skipped = find_skipped(&place);
    do {
        count = quipu_watch_find(address, end, from, found);
        for (unsigned i = 0; i < count; i++) {
            bool is_short = region_at(found[i])->size <= whole;
            if (is_skipped || find_outer(found[i], &range, stack, &place))
                report_change(&call, found[i], is_short ? everything : range, &place, &readable);
        }
        from = count ? found[count - 1] + 1 : 0;
    } while (count == WATCH_BATCH);
}

/* Of a long region only what will be written is compared, which is what would be lost. */
void quipu_watch_compare_before(uint64_t address, uint64_t end, uint64_t stack) {
    compare_there(address, end, stack, QUIPU_PAGE);
}

void quipu_watch_compare_ending(uint64_t address, uint64_t end, uint64_t stack) {
    compare_there(address, end, stack, UINT64_MAX);
}

void quipu_watch_compare_last(uint64_t stack, bool is_exact) {
    const struct watch_call call = {.stack = stack};
    struct place place;
    if (!find_skipped(&place))
        return;
    if (!is_exact)
        quipu_watch_count_skipped();
    compare_all(&call, &place);
    WATCH_QUICK->skipped_call = 0; /* its module may soon be unmapped */
}
