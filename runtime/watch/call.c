/* call.c: calls of code without checks.
 *
 * If the callee is known, the ranges that it writes are reported like stores. The regions' copies
 * hold the old bytes; the begin of the call refreshes them for ranges whose length it knows. After
 * any other call, all regions are compared with their copies (compare.c). Everything that reports a
 * write also updates the copies. A new region's bytes are read before the first call that
 * follows.
 *
 * Most calls need none of this, and are recognized first: a range in which nothing is watched, the
 * C library's own memory where no region can be (quick.c), and a direct call of an unknown
 * function, for which nothing must be kept from begin to end. These have no record.
 *
 * A call that never returns leaves its record. The next call with that stack pointer reuses it.
 *
 * Not perfect: a change is lost if the call's record was pushed out, and the next call's begin
 * refreshes the copies before any comparison. */
#include "format/data_file.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include "format/watch_callees.h"

#include <signal.h>
#include <stdio.h>
#include <sys/uio.h>

enum {
    VECTOR_MOST = 1024,
    ARGUMENTS = 6,
    /* words of entry.S's frame */
    FRAME_RESULT = -2,
    FRAME_RETURN = 1,
    FRAME_CALLEE = 2,
    FRAME_BEGIN = 3, /* stack pointer at the call ... */
    FRAME_END = 2,   /* ... and after it */
};

#define QUIPU_UNBOUND UINT64_MAX

void quipu_watch_call_begun(const uint64_t *frame);
void quipu_watch_call_ended(const uint64_t *frame);
void quipu_watch_call_returned(const uint64_t *frame);

/* ---- Ranges ---- */

/* Returns the number of bytes before the NUL, or MOST if there are more. If memory becomes
 * unreadable before a NUL: the number of readable bytes. */
static uint64_t string_length(uint64_t address, uint64_t most) {
    uint64_t at = address, end = address + most;
    while (at && at < end && quipu_watch_is_readable(at, at + 1))
        for (uint64_t next = lesser(end, (at | (QUIPU_PAGE - 1)) + 1); at < next; at++)
            if (*(const char *)at == '\0')
                return at - address;
    return at - address;
}

/* Whether the string that the call writes may be longer than most are. */
static bool may_be_long(const struct watch_call *call, uint32_t extent) {
    uint64_t source = quipu_extent_a(extent), most = QUIPU_STRING_SHORT;
    bool is_append = quipu_extent_kind(extent) == QUIPU_EXTENT_APPEND;
    return (source && string_length(call->arguments[source], most) == most) ||
           (is_append && string_length(call->arguments[extent & 7], most) == most);
}

/* Whether the range may reach a region. */
static bool may_reach(const struct watch_call *call, uint32_t extent) {
    uint64_t address = call->arguments[extent & 7], reach = quipu_reach(extent);
    if (!reach)
        return true;
    if (reach != QUIPU_REACH_OF_STRING)
        return quipu_watch_may_reach(address, reach);
    return quipu_watch_may_reach(address, 2 * QUIPU_STRING_SHORT) ||
           (quipu_watch_may_reach(address, reach) && may_be_long(call, extent));
}

/* Returns the range as far as it is known at the begin. */
static struct watch_range begin_range(const struct watch_call *call, uint32_t extent) {
    const uint64_t *arguments = call->arguments;
    struct watch_range range = {arguments[extent & 7], QUIPU_UNBOUND};
    uint64_t a = arguments[quipu_extent_a(extent)], b = arguments[quipu_extent_b(extent)];
    uint32_t pointed = 0;
    switch (quipu_extent_kind(extent)) {
    case QUIPU_EXTENT_CONSTANT:
        range.length = quipu_extent_constant(extent);
        break;
    case QUIPU_EXTENT_BYTES:
        range.length = lesser(a, ADDRESSES_END);
        break;
    case QUIPU_EXTENT_PRODUCT:
        if (__builtin_mul_overflow(a, b, &range.length))
            range.length = ADDRESSES_END;
        break;
    case QUIPU_EXTENT_TIMES:
        range.length = (uint64_t)(uint32_t)a * quipu_extent_constant(extent);
        break;
    case QUIPU_EXTENT_POINTED:
        quipu_watch_read(&pointed, a, sizeof pointed);
        range.length = pointed;
        break;
    case QUIPU_EXTENT_APPEND:
        range.address += string_length(range.address, QUIPU_REACH_OF_STRING);
        break;
    default:
        break;
    }
    if (range.length != QUIPU_UNBOUND && range.address < ADDRESSES_END)
        range.length = lesser(range.length, ADDRESSES_END - range.address);
    return range;
}

/* Sets the range. It is empty if it touches no region. */
static void find_range(struct watch_call *call, unsigned number) {
    uint32_t extent = quipu_watch_callee_rows[call->callee][number];
    uint64_t address = call->arguments[extent & 7];
    struct watch_range *range = &call->ranges[number];
    *range = (struct watch_range){address, 0};
    if (!quipu_is_range(extent) || !address || !may_reach(call, extent))
        return;
    *range = begin_range(call, extent);
    if (range->length != QUIPU_UNBOUND && !quipu_watch_may_touch(range->address, range->length))
        range->length = 0;
}

static uint64_t length_by_result(uint32_t extent, uint64_t result) {
    uint32_t added = quipu_extent_added(extent);
    int64_t count = quipu_extent_is_int(extent) ? (int32_t)result : (int64_t)result;
    if (count < 0 || (count == 0 && !added))
        return 0;
    return (uint64_t)count * quipu_extent_constant(extent) + added;
}

/* Sets what is known only at the end. */
static void end_range(struct watch_range *range, uint32_t extent, uint64_t result) {
    if (range->length == QUIPU_UNBOUND) {
        if (quipu_extent_kind(extent) == QUIPU_EXTENT_RESULT)
            range->length = length_by_result(extent, result);
        else
            range->length = string_length(range->address, QUIPU_REACH_OF_STRING) + 1;
    }
    if ((extent & QUIPU_EXTENT_ZERO && (uint32_t)result) || (extent & QUIPU_EXTENT_TRUE && !result))
        range->length = 0;
}

/* Returns how often the write locks of the range were taken, ever. */
static uint64_t count_releases(const struct watch_range *range) {
    uint64_t most = (uint64_t)WATCH_WRITE_LOCKS << QUIPU_WATCH_GRANULE_BITS;
    return quipu_watch_releases(range->address, range->address + lesser(range->length, most));
}

/* Reports the range NUMBER of the call, or a part of it. */
static void report_range(const struct watch_call *call, unsigned number,
                         const struct watch_range *range, bool if_changed, uint64_t pc) {
    struct watch_write write = {.address = range->address,
                                .length = range->length,
                                .pc = pc,
                                .place = pc,
                                .cause = QUIPU_CAUSE_CALLEE,
                                .if_changed = if_changed,
                                .pair = NULL,
                                .made = WATCH->made,
                                .stack = call->stack,
                                .skipped = call->skipped,
                                .is_sure = if_changed || count_releases(&call->ranges[number]) ==
                                                             call->releases[number]};
    if (range->length && range->address + range->length > range->address)
        quipu_watch_report_all(&write);
}

/* Reports the parts of a vector of struct iovec. */
static void tell_vector(const struct watch_call *call, unsigned number, uint64_t count,
                        uint64_t pc) {
    const struct watch_range *range = &call->ranges[number];
    for (uint64_t i = 0; i < count && i < VECTOR_MOST; i++) {
        struct iovec part;
        if (quipu_watch_read(&part, range->address + i * sizeof part, sizeof part) < sizeof part)
            return;
        struct watch_range piece = {(uint64_t)part.iov_base, part.iov_len};
        report_range(call, number, &piece, true, pc);
    }
}

/* Whether the row is right for a call whose format the shim did not know. */
static bool row_holds(const struct watch_call *call) {
    for (unsigned i = 0; i < CALLEE_RANGES; i++) {
        uint32_t extent = quipu_watch_callee_rows[call->callee][i];
        if (quipu_is_condition(extent) && quipu_watch_writes_by_format(call->arguments[extent & 7]))
            return false;
    }
    return true;
}

/* ---- Blocks ---- */

/* munmap: the blocks lose that part at once, since another thread may get it before the call
 * ends. */
static void unmap_blocks(const struct watch_call *call, uint64_t address) {
    uint64_t size = call->arguments[1];
    if (address % QUIPU_PAGE == 0 && size && size < ADDRESSES_END) /* else it fails */
        quipu_watch_block_unmapped(address, address + round_to_page(size));
}

static void begin_blocks(const struct watch_call *call) {
    bool maps = quipu_watch_maps(call->callee);
    for (unsigned i = 0; i < CALLEE_RANGES; i++) {
        uint32_t extent = quipu_watch_callee_rows[call->callee][i];
        uint64_t address = call->arguments[extent & 7];
        if (quipu_extent_kind(extent) == QUIPU_EXTENT_FREED ||
            quipu_extent_kind(extent) == QUIPU_EXTENT_MOVED)
            quipu_watch_compare_ending(address, address + 1, call->stack);
        if (quipu_extent_kind(extent) == QUIPU_EXTENT_FREED && maps)
            unmap_blocks(call, address);
        else if (quipu_extent_kind(extent) == QUIPU_EXTENT_FREED)
            quipu_watch_block_freeing(address);
        else if (quipu_extent_kind(extent) == QUIPU_EXTENT_MOVED)
            quipu_watch_block_moving(address, call->stack);
    }
}

/* Returns the allocated block; its address is 0 if there is none. */
static struct watch_range new_block(const struct watch_call *call, uint32_t extent,
                                    uint64_t result) {
    struct watch_range block = {result, call->arguments[quipu_extent_a(extent)]};
    unsigned factor = extent >> 12 & 15;
    if (quipu_extent_kind(extent) == QUIPU_EXTENT_BLOCK_STRING)
        block.length = string_length(result, QUIPU_REACH_OF_STRING) + 1;
    else if (factor < 6 &&
             __builtin_mul_overflow(block.length, call->arguments[factor], &block.length))
        block.length = UINT64_MAX; /* no block is that long */
    if (quipu_extent_constant(extent) &&
        ((uint32_t)result != 0 || quipu_watch_read(&block.address, call->arguments[extent & 7],
                                                   sizeof block.address) < sizeof block.address))
        block.address = 0;
    if (block.address >= ADDRESSES_END) /* error result of mmap */
        block.address = 0;
    return block;
}

static void end_blocks(const struct watch_call *call, uint64_t result, uint64_t pc) {
    bool moves = false, maps = quipu_watch_maps(call->callee);
    for (unsigned i = 0; i < CALLEE_RANGES; i++) {
        uint32_t extent = quipu_watch_callee_rows[call->callee][i];
        uint64_t address = call->arguments[extent & 7];
        if (quipu_extent_kind(extent) == QUIPU_EXTENT_FREED && !maps)
            quipu_watch_block_freed(address, pc);
        moves |= quipu_extent_kind(extent) == QUIPU_EXTENT_MOVED;
        if (quipu_extent_kind(extent) != QUIPU_EXTENT_BLOCK &&
            quipu_extent_kind(extent) != QUIPU_EXTENT_BLOCK_STRING)
            continue;
        struct watch_range block = new_block(call, extent, result);
        if (moves)
            quipu_watch_block_moved(call->arguments[0], block.address, block.length, pc,
                                    call->stack);
        else if (block.address)
            quipu_watch_block_made(block.address, block.length, pc, maps);
    }
}

/* ---- Begin and end ---- */

static void note_stack(uint64_t pointer, uint64_t length, bool is_plain) {
    stack_t stack = {.ss_sp = (void *)pointer, .ss_size = length};
    if (is_plain || quipu_watch_read(&stack, pointer, sizeof stack) == sizeof stack)
        quipu_watch_note_stack((uint64_t)stack.ss_sp, stack.ss_size);
}

static void lose_pages(const struct watch_call *call, uint64_t address, uint64_t length) {
    quipu_watch_compare_ending(address, address + length, call->stack);
    quipu_watch_note_pages(address, length);
}

/* Handles the effects of the call that concern more than its ranges: a stream gets a buffer, memory
 * becomes unreadable or a stack, or the program ends. */
static void note_more(const struct watch_call *call) {
    for (unsigned i = 0; i < CALLEE_RANGES; i++) {
        uint32_t extent = quipu_watch_callee_rows[call->callee][i];
        uint64_t pointer = call->arguments[extent & 7];
        if (quipu_extent_kind(extent) != QUIPU_EXTENT_MORE)
            continue;
        unsigned size = extent >> 8 & 15;
        uint64_t length = size < ARGUMENTS ? call->arguments[size] : BUFSIZ;
        if (quipu_extent_constant(extent) == QUIPU_MORE_STACK && pointer)
            note_stack(pointer, length, size < ARGUMENTS);
        if (quipu_extent_constant(extent) == QUIPU_MORE_STREAM && pointer)
            quipu_watch_note_stream(pointer, length);
        if (quipu_extent_constant(extent) == QUIPU_MORE_PAGES) {
            lose_pages(call, pointer, length);
            if (extent >> 12 & 15)
                lose_pages(call, call->arguments[extent >> 12 & 15], call->arguments[size + 1]);
        }
        if (quipu_extent_constant(extent) == QUIPU_MORE_END)
            quipu_watch_compare_last(call->stack, true);
    }
}

static bool has_ranges(const struct watch_call *call) {
    bool any = false;
    for (unsigned i = 0; i < CALLEE_RANGES; i++)
        any |= call->ranges[i].length != 0;
    return any;
}

/* Sets WAY's low and high to the bounds of all ranges of the call. */
static void find_hull(const struct watch_call *call, struct watch_running_call *running) {
    running->low = UINT64_MAX;
    running->high = 0;
    for (unsigned i = 0; i < CALLEE_RANGES; i++) {
        struct watch_range range = call->ranges[i];
        if (!range.length)
            continue;
        running->low = lesser(running->low, range.address);
        running->high =
            greater(running->high,
                    range.length < ADDRESSES_END ? range.address + range.length : ADDRESSES_END);
        if (quipu_extent_kind(quipu_watch_callee_rows[call->callee][i]) == QUIPU_EXTENT_VECTOR)
            *running = (struct watch_running_call){.low = 0, .high = ADDRESSES_END};
    }
}

/* Sets the call's ranges and their bounds. Returns whether its end has anything to do. */
static bool has_end(struct watch_call *call, struct watch_running_call *running) {
    const uint32_t *extents = quipu_watch_callee_rows[call->callee];
    for (unsigned i = 0; i < CALLEE_RANGES; i++)
        find_range(call, i);
    bool touches = has_ranges(call);
    find_hull(call, running);
    for (unsigned i = 0; i < CALLEE_RANGES;
         i++) /* all regions are compared: no separate report is needed */
        if (quipu_watch_is_unknown(call->callee) && !(extents[i] & QUIPU_EXTENT_CHANGED))
            call->ranges[i].length = 0;
    bool may_be_library =
        quipu_watch_is_unknown(call->callee) || quipu_watch_is_allocator(call->callee);
    return touches || (may_be_library && WATCH->library) || !call->callee ||
           quipu_extent_kind(extents[0]) == QUIPU_EXTENT_ANY ||
           quipu_question(extents) == QUIPU_ASK_ALWAYS;
}

/* Makes the call's end be reported. If the text cannot be changed any more, it is not reported. */
static bool tells_end(const uint64_t *frame) {
    uint32_t descriptor = (uint32_t)frame[FRAME_CALLEE];
    const uint8_t *jump = (const uint8_t *)frame[FRAME_RETURN] + LEAQ_SIZE;
    return !(descriptor & QUIPU_CALL_LEADS) ||
           quipu_watch_arm_site((uint64_t)target_of_jump(jump) + QUIPU_CALL_SIZE(descriptor),
                                quipu_watch_behind_jump(jump));
}

static void compare_before(const struct watch_call *call) {
    for (unsigned i = 0; i < CALLEE_RANGES; i++) {
        const struct watch_range *range = &call->ranges[i];
        if (range->length && range->length != QUIPU_UNBOUND)
            quipu_watch_compare_before(range->address, range->address + range->length, call->stack);
    }
}

/* Refreshes the copies for ranges that the call will write. If the call may write less, and there
 * are other threads, the copies stay: then changes by other threads are not lost, but reported with
 * this call's. */
static void refresh_ranges(struct watch_call *record) {
    bool is_alone = quipu_watch_is_alone();
    for (unsigned i = 0; i < CALLEE_RANGES; i++) {
        struct watch_range range = record->ranges[i];
        record->releases[i] = range.length ? count_releases(&range) : 0;
        if (range.length == QUIPU_UNBOUND || range.address + range.length <= range.address)
            continue;
        if (is_alone || !(quipu_watch_callee_rows[record->callee][i] & QUIPU_EXTENT_CHANGED))
            quipu_watch_refresh(range.address, range.address + range.length);
    }
}

static void begin_call(struct watch_call *call, const uint64_t *frame) {
    if (WATCH->unread)
        quipu_watch_read_new();
    if (WATCH->heaps_active)
        begin_blocks(call);
    for (unsigned i = 0; i < ARGUMENTS && WATCH->freed_blocks; i++)
        call->given_freed |= (uint32_t)quipu_watch_refresh_freed(call->arguments[i]) << i;
    struct watch_running_call running = {.stack = call->stack,
                                         .stub = frame[FRAME_RETURN],
                                         .descriptor = (uint32_t)frame[FRAME_CALLEE]};
    bool ends = has_end(call, &running), tracks = WATCH_QUICK->tracks;
    running.descriptor = (running.descriptor & ~0xffffu) | call->callee;
    if (ends && tracks)
        quipu_watch_call_begins(&running);
    bool needs_record = has_ranges(call) ||
                        (WATCH->heaps_active && quipu_watch_is_allocator(call->callee)) ||
                        !(tracks && running.descriptor & QUIPU_CALL_COMPARED);
    if (!ends || !needs_record || !tells_end(frame))
        return;
    compare_before(call);
    struct watch_call *record = quipu_watch_take_call(call->stack);
    record->callee = call->callee;
    copy_bytes(record->arguments, call->arguments, sizeof record->arguments);
    record->given_freed = call->given_freed;
    copy_bytes(record->ranges, call->ranges, sizeof record->ranges);
    record->tid = has_ranges(call) ? quipu_watch_thread(quipu_watch_pid()) : 0;
    record->skipped = __atomic_load_n(&WATCH_QUICK->skipped, __ATOMIC_ACQUIRE);
    refresh_ranges(record);
}

void quipu_watch_call_begun(const uint64_t *frame) {
    static const int8_t places[ARGUMENTS] = {-6, -5, -4,
                                             -3, -7, -8}; /* rdi, rsi, rdx, rcx, r8, r9 */
    uint32_t callee = QUIPU_CALL_NUMBER((uint32_t)frame[FRAME_CALLEE]);
    uint32_t row = callee & ~QUIPU_CALLEE_LOOKS;
    if (!quipu_watch_ready)
        return;
    if ((uint32_t)frame[FRAME_CALLEE] & QUIPU_CALL_LEAVES) {
        if (WATCH->unread)
            quipu_watch_read_new();
        if (WATCH->armed)
            quipu_watch_leave((uint64_t)(frame + FRAME_BEGIN), frame[FRAME_RETURN],
                              (uint32_t)frame[FRAME_CALLEE]);
        return;
    }
    struct watch_call call;
    call.stack = (uint64_t)(frame + FRAME_BEGIN);
    call.callee = row < quipu_watch_plain_count ? row : 0;
    call.given_freed = 0;
    for (unsigned i = 0; i < ARGUMENTS; i++)
        call.arguments[i] = frame[places[i]];
    note_more(&call);
    if (!WATCH->armed)
        return;
    if (callee & QUIPU_CALLEE_LOOKS && !row_holds(&call))
        call.callee = 0;
    begin_call(&call, frame);
}

/* Reports what the call has written. */
static void end_call(const struct watch_call *call, const uint64_t *frame) {
    uint64_t result = frame[FRAME_RESULT];
    uint64_t pc = quipu_watch_place_of_return(frame[FRAME_RETURN]);
    const uint32_t *extents = quipu_watch_callee_rows[call->callee];
    bool is_heap = quipu_watch_is_allocator(call->callee);
    if (is_heap && WATCH->heaps_active)
        end_blocks(call, result, pc);
    if (WATCH->armed &&
        (is_heap ? WATCH->count > WATCH->block_regions : quipu_watch_is_unknown(call->callee)))
        quipu_watch_compare(call, frame[FRAME_RETURN]);
    for (unsigned i = 0; i < CALLEE_RANGES && WATCH->armed; i++) {
        struct watch_range range = call->ranges[i];
        if (!range.length)
            continue;
        end_range(&range, extents[i], result);
        if (quipu_extent_kind(extents[i]) == QUIPU_EXTENT_VECTOR)
            tell_vector(call, i, call->arguments[quipu_extent_a(extents[i])], pc);
        else
            report_range(call, i, &range, extents[i] & QUIPU_EXTENT_CHANGED, pc);
    }
}

void quipu_watch_call_ended(const uint64_t *frame) {
    uint64_t stack = (uint64_t)(frame + FRAME_END);
    struct watch_call *call = quipu_watch_ready ? quipu_watch_find_call(stack) : NULL;
    if (call) {
        end_call(call, frame);
        quipu_watch_close_call(call);
    } else if (quipu_watch_ready) {
        quipu_watch_drop_left_calls(stack);
    }
    if (quipu_watch_ready && WATCH_QUICK->tracks)
        quipu_watch_call_ends(stack);
}

/* Compares after a call without a record. */
static void compare_behind(const uint64_t *frame) {
    struct watch_call call = {.stack = (uint64_t)(frame + FRAME_END)};
    if (WATCH_QUICK->tracks)
        call.callee = quipu_watch_running_row(call.stack);
    quipu_watch_compare(&call, frame[FRAME_RETURN]);
}

/* After a direct call of an unknown function, or of one that writes the library's own memory. It
 * has a record if its begin had to be reported. A record of another kind of call at that stack
 * pointer is not its own. */
void quipu_watch_call_returned(const uint64_t *frame) {
    uint64_t stack = (uint64_t)(frame + FRAME_END);
    if (!quipu_watch_ready || !WATCH->armed)
        return;
    struct watch_call *record = WATCH->calling ? quipu_watch_find_call(stack) : NULL;
    if (record &&
        (quipu_watch_is_unknown(record->callee) || quipu_watch_is_allocator(record->callee))) {
        end_call(record, frame);
        quipu_watch_close_call(record);
    } else {
        if (WATCH->calling && !record)
            quipu_watch_drop_left_calls(stack);
        compare_behind(frame);
    }
    if (WATCH_QUICK->tracks)
        quipu_watch_call_ends(stack);
}
