/* heap.c: watched blocks of the heap, selected by the code that allocates them.
 *
 * call.c reports the calls that allocate and free. If such a call is in a range of a request, its
 * block gets a region, over the whole block or a slice. When the block is freed, the region stays
 * as that of a freed block, so that writes there are reported. It is removed when an allocation
 * returns memory that contains it, when there are too many (the oldest first), or when the memory
 * is unmapped. A block that is moved keeps its number; its old memory counts as freed. A block of
 * which the program unmaps a part, or maps it anew, keeps the rest: one block or two, with its
 * number.
 *
 * A hash table finds blocks by address. All changes are made under the lock. A call that frees
 * first tests, without the lock, whether there may be such a block.
 *
 * Not perfect: allocations by code without checks are not seen. A freed block whose memory such
 * code has got stays a freed block. */
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>

enum {
    FREED_MOST = 4096, /* for each request */
    FIRST_BUCKETS = 10 /* bits */
};

static struct watch_block *block_at(uint32_t index) {
    uint64_t place = (uint64_t)index + WATCH_FIRST;
    unsigned segment = 63 - (unsigned)__builtin_clzll(place) - 10;
    return WATCH->block_segments[segment] + (place - ((uint64_t)WATCH_FIRST << segment));
}

/* ---- The table: the caller holds the lock ---- */

static uint32_t *bucket_at(uint64_t address) {
    uint64_t buckets = __atomic_load_n(&WATCH->block_buckets, __ATOMIC_ACQUIRE);
    unsigned bits = bits_of(buckets);
    return (uint32_t *)(buckets - bits) + (scatter_bits(address >> 4) >> (64 - bits));
}

/* Whether there may be a block at ADDRESS. Works without the lock: the caller got the address from
 * the thread that allocated it, and sees at least the table of that time. */
static bool may_be(uint64_t address) {
    return __atomic_load_n(&WATCH->block_count, __ATOMIC_ACQUIRE) && address &&
           __atomic_load_n(bucket_at(address), __ATOMIC_ACQUIRE);
}

static void link_block(uint32_t index) {
    struct watch_block *block = block_at(index);
    uint32_t *bucket = bucket_at(block->address);
    block->next = *bucket;
    __atomic_store_n(bucket, index + 1, __ATOMIC_RELEASE);
}

static void unlink_block(uint32_t index) {
    struct watch_block *block = block_at(index);
    uint32_t *at = bucket_at(block->address);
    while (*at != index + 1)
        at = &block_at(*at - 1)->next;
    *at = block->next;
}

/* The old table stays as it is, for readers without the lock. */
static bool grow(void) {
    struct watch *watch = WATCH;
    unsigned bits = watch->block_buckets ? bits_of(watch->block_buckets) + 1 : FIRST_BUCKETS;
    uint64_t buckets = (uint64_t)quipu_watch_map(sizeof(uint32_t) << bits);
    if (!buckets)
        return watch->block_buckets != 0;
    uint32_t *table = (uint32_t *)buckets;
    for (uint32_t i = 0; i < watch->blocks_used; i++) {
        struct watch_block *block = block_at(i);
        if (!block->number)
            continue;
        uint32_t *bucket = table + (scatter_bits(block->address >> 4) >> (64 - bits));
        block->next = *bucket;
        *bucket = i + 1;
    }
    __atomic_store_n(&watch->block_buckets, buckets | bits, __ATOMIC_RELEASE);
    return true;
}

/* Returns the index of a free record, or -ENOMEM. */
static int64_t take_index(void) {
    struct watch *watch = WATCH;
    if ((!watch->block_buckets || watch->block_count >> bits_of(watch->block_buckets)) && !grow())
        return -ENOMEM;
    if (watch->free_block) {
        uint32_t index = watch->free_block - 1;
        watch->free_block = block_at(index)->next;
        return index;
    }
    uint32_t index = watch->blocks_used;
    unsigned segment = 63 - (unsigned)__builtin_clzll((uint64_t)index + WATCH_FIRST) - 10;
    if (segment >= WATCH_SEGMENTS)
        return -ENOMEM;
    if (!watch->block_segments[segment])
        watch->block_segments[segment] =
            quipu_watch_map((uint64_t)WATCH_FIRST * sizeof(struct watch_block) << segment);
    if (!watch->block_segments[segment])
        return -ENOMEM;
    watch->blocks_used++;
    return index;
}

/* ---- Blocks: the caller holds the lock ---- */

/* Makes a region of the block, whose record is filled in. */
static int64_t watch_part(uint32_t index, uint64_t address, uint64_t size) {
    struct watch_block *block = block_at(index);
    const struct watch_heap *heap = &WATCH->heaps[block->heap];
    struct watch_region wanted = {.address = address,
                                  .size = size,
                                  .handler = index + 1,
                                  .argument = heap->request,
                                  .flags = (uint16_t)(heap->flags | WATCH_BLOCK)};
    int64_t id = quipu_watch_add_locked(&wanted);
    block->region = id > 0 ? id : 0;
    return id;
}

/* Makes the region that the request asks for. */
static int64_t add_region(uint32_t index) {
    struct watch_block *block = block_at(index);
    const struct watch_heap *heap = &WATCH->heaps[block->heap];
    block->region = 0;
    if (block->size <= heap->offset)
        return 0;
    return watch_part(index, block->address + heap->offset,
                      lesser(heap->size, block->size - heap->offset));
}

static struct quipu_watch_request *request_of(const struct watch_heap *heap) {
    struct quipu_watch_file *file = WATCH->file;
    return (struct quipu_watch_request *)((uint8_t *)file + file->request_offset) + heap->request;
}

/* Makes a record without a region. Returns its index, or -ENOMEM. */
static int64_t make_record(const struct watch_block *wanted) {
    struct watch *watch = WATCH;
    int64_t index = take_index();
    if (index < 0) {
        request_of(&watch->heaps[wanted->heap])->error = ENOMEM;
        return index;
    }
    *block_at((uint32_t)index) = *wanted;
    link_block((uint32_t)index);
    __atomic_store_n(&watch->block_count, watch->block_count + 1, __ATOMIC_RELEASE);
    return index;
}

/* A block that has none of the requested bytes is only counted. */
static void make_block(uint32_t heap, uint64_t number, uint64_t address, uint64_t size) {
    int64_t index = make_record(&(struct watch_block){.address = address,
                                                      .size = size,
                                                      .whole_address = address,
                                                      .whole_size = size,
                                                      .number = number,
                                                      .heap = heap});
    int64_t id = index < 0 ? 0 : add_region((uint32_t)index);
    if (id < 0)
        request_of(&WATCH->heaps[heap])->error = (uint32_t)-id;
}

/* Removes the block from the list of freed ones. */
static void leave_freed(const struct watch_block *block) {
    struct watch_heap *heap = &WATCH->heaps[block->heap];
    if (block->earlier)
        block_at(block->earlier - 1)->later = block->later;
    else
        heap->oldest = block->later;
    if (block->later)
        block_at(block->later - 1)->earlier = block->earlier;
    else
        heap->newest = block->earlier;
    heap->freed--;
    WATCH->freed_blocks--;
}

static void drop_block(uint32_t index) {
    struct watch *watch = WATCH;
    struct watch_block *block = block_at(index);
    quipu_watch_remove_locked(block->region);
    if (block->freed)
        leave_freed(block);
    unlink_block(index);
    block->number = 0;
    block->next = watch->free_block;
    watch->free_block = index + 1;
    watch->block_count--;
}

/* A block without a region has nothing to report, and is dropped. */
static void free_block(uint32_t index, uint64_t pc) {
    struct watch_block *block = block_at(index);
    struct watch_heap *heap = &WATCH->heaps[block->heap];
    if (!block->region) {
        drop_block(index);
        return;
    }
    __atomic_or_fetch(&region_at((uint32_t)block->region - 1)->flags, WATCH_FREED,
                      __ATOMIC_RELEASE);
    block->freed = pc;
    block->moving = 0;
    block->earlier = heap->newest;
    block->later = 0;
    if (heap->newest)
        block_at(heap->newest - 1)->later = index + 1;
    else
        heap->oldest = index + 1;
    heap->newest = index + 1;
    WATCH->freed_blocks++;
    if (++heap->freed > FREED_MOST)
        drop_block(heap->oldest - 1);
}

/* Makes a block of the part [ADDRESS, END) of block WAS, if its region REGION has bytes there. */
static void keep_part(const struct watch_block *was, const struct watch_region *region,
                      uint64_t address, uint64_t end) {
    uint64_t begin = greater(region->address, address);
    uint64_t region_end = lesser(region->address + region->size, end);
    if (address >= end || begin >= region_end)
        return;
    struct watch_block part = {.address = address,
                               .size = end - address,
                               .whole_address = was->whole_address,
                               .whole_size = was->whole_size,
                               .number = was->number,
                               .heap = was->heap};
    int64_t index = make_record(&part);
    int64_t id = index < 0 ? 0 : watch_part((uint32_t)index, begin, region_end - begin);
    if (id < 0)
        request_of(&WATCH->heaps[was->heap])->error = (uint32_t)-id;
}

/* The program unmaps [ADDRESS, END), or maps it anew. What is left of the block is still watched,
 * under the same number. */
static void cut_block(uint32_t index, uint64_t address, uint64_t end) {
    struct watch_block was = *block_at(index);
    struct watch_region region = {0};
    if (was.region)
        region = *region_at((uint32_t)was.region - 1);
    drop_block(index);
    keep_part(&was, &region, was.address, address);
    keep_part(&was, &region, end, was.address + was.size);
}

enum state {
    ALIVE,
    BEING_FREED,
    FREED,
    MOVING
};

/* Returns the index + 1 of the first block at ADDRESS that is in STATE, or 0. */
static uint32_t find_block(uint64_t address, enum state state) {
    uint32_t at = WATCH->block_buckets ? *bucket_at(address) : 0;
    for (; at; at = block_at(at - 1)->next) {
        const struct watch_block *block = block_at(at - 1);
        enum state is = block->moving  ? MOVING
                        : block->freed ? (block->freed == 1 ? BEING_FREED : FREED)
                                       : ALIVE;
        if (block->address == address && is == state)
            return at;
    }
    return 0;
}

/* The same for a block of one request, in any state. */
static uint32_t find_block_of(uint64_t address, uint32_t heap) {
    uint32_t at = *bucket_at(address);
    while (at && (block_at(at - 1)->address != address || block_at(at - 1)->heap != heap))
        at = block_at(at - 1)->next;
    return at;
}

/* Forgets all blocks at ADDRESS, which is allocated anew, whether or not their end was seen. */
static void drop_blocks(uint64_t address) {
    uint32_t at;
    while ((at = find_block(address, ALIVE)) || (at = find_block(address, BEING_FREED)) ||
           (at = find_block(address, FREED)))
        drop_block(at - 1);
}

/* ---- Requests ---- */

int quipu_watch_ask_for_blocks(uint32_t number, uint64_t bias) {
    struct watch *watch = WATCH;
    uint8_t *file = (uint8_t *)watch->file;
    uint64_t mask = quipu_watch_lock();
    if (!watch->heaps) {
        watch->heap_room = watch->request_room;
        watch->heaps = quipu_watch_map(watch->heap_room * sizeof *watch->heaps);
    }
    uint32_t place = 0;
    while (place < watch->heap_count && watch->heaps[place].request != number)
        place++;
    if (!watch->heaps || place >= watch->heap_room) {
        quipu_watch_unlock(mask);
        return -ENOMEM;
    }
    long error = quipu_watch_arm_calls(WATCH_ASKS_ARMED | WATCH_ASKS_LIBRARY);
    if (error < 0) {
        quipu_watch_unlock(mask);
        return error;
    }
    struct watch_heap *heap = &watch->heaps[place];
    watch->heap_count += place == watch->heap_count;
    if (!heap->active) {
        heap->request = number;
        const struct quipu_watch_request *request = request_of(heap);
        heap->flags = request->flags & (QUIPU_REQUEST_WAITS | QUIPU_REQUEST_CHANGES |
                                        QUIPU_REQUEST_MORE | QUIPU_REQUEST_GUARDED);
        heap->bias = bias;
        heap->offset = request->address;
        heap->size = request->size;
        heap->ranges = (const struct quipu_watch_range *)(file + watch->file->range_offset) +
                       request->first_range;
        heap->range_count = request->range_count;
        heap->active = true;
        watch->heaps_active++;
        quipu_watch_arm();
    }
    quipu_watch_unlock(mask);
    return 0;
}

void quipu_watch_let_blocks_go(uint32_t number) {
    struct watch *watch = WATCH;
    uint64_t mask = quipu_watch_lock();
    for (uint32_t i = 0; i < watch->blocks_used; i++)
        if (block_at(i)->number && watch->heaps[block_at(i)->heap].request == number)
            drop_block(i);
    for (uint32_t i = 0; i < watch->heap_count; i++)
        if (watch->heaps[i].request == number && watch->heaps[i].active) {
            watch->heaps[i].active = false;
            watch->heaps_active--;
        }
    quipu_watch_disarm();
    quipu_watch_unlock(mask);
}

/* Whether the call that returned to PC is in one of the ranges. */
static bool asks_for(const struct watch_heap *heap, uint64_t pc) {
    uint64_t place = pc - 1 - heap->bias;
    uint32_t low = 0, high = heap->range_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (heap->ranges[middle].end <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return heap->active && low < heap->range_count && heap->ranges[low].begin <= place;
}

static bool any_asks_for(uint64_t pc) {
    for (uint32_t i = 0; i < WATCH->heap_count; i++)
        if (asks_for(&WATCH->heaps[i], pc))
            return true;
    return false;
}

/* ---- Calls ---- */

void quipu_watch_block_freeing(uint64_t address) {
    if (!may_be(address))
        return;
    uint64_t mask = quipu_watch_lock();
    uint32_t at;
    while ((at = find_block(address, ALIVE)))
        free_block(at - 1, 1);
    quipu_watch_unlock(mask);
}

/* Drops freed blocks at ADDRESS if the memory is unmapped, since it may get any new use. */
static void drop_freed(uint64_t address) {
    uint32_t at;
    if (!quipu_watch_is_readable(address, address + 1))
        while ((at = find_block(address, FREED)))
            drop_block(at - 1);
}

void quipu_watch_block_freed(uint64_t address, uint64_t pc) {
    if (!may_be(address))
        return;
    uint64_t mask = quipu_watch_lock();
    uint32_t at;
    while ((at = find_block(address, BEING_FREED)))
        block_at(at - 1)->freed = pc;
    drop_freed(address);
    quipu_watch_unlock(mask);
}

void quipu_watch_block_moving(uint64_t address, uint64_t stack) {
    if (!may_be(address))
        return;
    uint64_t mask = quipu_watch_lock();
    uint32_t at;
    while ((at = find_block(address, ALIVE)))
        block_at(at - 1)->moving = stack;
    quipu_watch_unlock(mask);
}

/* The memory in [ADDRESS, END) has a new owner. A block that is being moved keeps its record,
 * because its new address is not known yet. */
static void lose_region(uint32_t region_index, uint64_t address, uint64_t end, bool is_mapped) {
    const struct watch_region *region = region_at(region_index);
    uint32_t index = (uint32_t)region->handler - 1;
    if (!block_at(index)->moving) {
        if (is_mapped && !block_at(index)->freed)
            cut_block(index, address, end);
        else
            drop_block(index);
        return;
    }
    quipu_watch_remove_locked(block_at(index)->region);
    block_at(index)->region = 0;
}

/* Drops the blocks in [ADDRESS, END), which was allocated anew, except those that the call at STACK
 * moves. If it was mapped or unmapped, they lose only that part. */
static void reuse(uint64_t address, uint64_t end, uint64_t stack, bool is_mapped) {
    uint32_t found[WATCH_BATCH], from = 0;
    unsigned count = WATCH->block_count ? WATCH_BATCH : 0;
    while (count == WATCH_BATCH) {
        count = quipu_watch_find(address, end, from, found);
        uint64_t mask = count ? quipu_watch_lock() : 0;
        for (unsigned i = 0; i < count; i++) {
            const struct watch_region *region = region_at(found[i]);
            if (region->size && region->flags & WATCH_BLOCK && region->address < end &&
                address < region->address + region->size &&
                (!stack || block_at((uint32_t)region->handler - 1)->moving != stack))
                lose_region(found[i], address, end, is_mapped);
        }
        if (count)
            quipu_watch_unlock(mask);
        from = count ? found[count - 1] + 1 : 0;
    }
}

/* Makes blocks for all requests that select the call that returned to PC, and have no block
 * there. */
static void make_blocks(uint64_t address, uint64_t size, uint64_t pc) {
    for (uint32_t i = 0; i < WATCH->heap_count; i++) {
        struct watch_heap *heap = &WATCH->heaps[i];
        if (!asks_for(heap, pc) || (WATCH->block_buckets && find_block_of(address, i)))
            continue;
        __atomic_fetch_add(&request_of(heap)->blocks, 1, __ATOMIC_RELAXED);
        make_block(i, ++heap->numbers, address, size);
    }
}

/* The blocks that begin at ADDRESS, and are watched behind END only. */
static void cut_blocks(uint64_t address, uint64_t end) {
    uint32_t at;
    while ((at = find_block(address, ALIVE)))
        cut_block(at - 1, address, end);
}

void quipu_watch_block_unmapped(uint64_t address, uint64_t end) {
    reuse(address, end, 0, true);
    if (!may_be(address))
        return;
    uint64_t mask = quipu_watch_lock();
    cut_blocks(address, end);
    quipu_watch_unlock(mask);
}

void quipu_watch_block_made(uint64_t address, uint64_t size, uint64_t pc, bool is_mapped) {
    if (is_mapped)
        quipu_watch_block_unmapped(address, address + round_to_page(size));
    else
        reuse(address, address + greater(size, 1), 0, false);
    if (!may_be(address) && !any_asks_for(pc))
        return;
    uint64_t mask = quipu_watch_lock();
    drop_blocks(address);
    make_blocks(address, size, pc);
    quipu_watch_unlock(mask);
}

/* Handles one block that the call may have moved. */
static void move_block(uint32_t index, uint64_t address, uint64_t size, uint64_t pc) {
    struct watch_block *block = block_at(index);
    uint32_t heap = block->heap;
    uint64_t number = block->number;
    block->moving = 0;
    if (!address && size)
        return; /* out of memory: the block is unchanged */
    if (address == block->address) {
        quipu_watch_remove_locked(block->region);
        block->size = block->whole_size = size;
        add_region(index);
        return;
    }
    free_block(index, pc);
    if (address)
        make_block(heap, number, address, size);
}

static uint32_t find_moving(uint64_t address, uint64_t stack) {
    uint32_t at = find_block(address, MOVING);
    return at && block_at(at - 1)->moving == stack ? at : 0;
}

void quipu_watch_block_moved(uint64_t old, uint64_t address, uint64_t size, uint64_t pc,
                             uint64_t stack) {
    uint32_t at;
    if (address)
        reuse(address, address + greater(size, 1), stack, false);
    if (!may_be(old) && !may_be(address) && !any_asks_for(pc))
        return;
    uint64_t mask = quipu_watch_lock();
    if (address && address != old)
        drop_blocks(address);
    while (old && (at = find_moving(old, stack)))
        move_block(at - 1, address, size, pc);
    if (address)
        make_blocks(address, size, pc);
    if (old)
        drop_freed(old);
    quipu_watch_unlock(mask);
}

/* ---- Hits ---- */

bool quipu_watch_refresh_freed(uint64_t address) {
    uint32_t found[WATCH_BATCH];
    bool any = false;
    unsigned count = quipu_watch_find(address, address + 1, 0, found);
    for (unsigned i = 0; i < count; i++) {
        struct watch_region region;
        if (!quipu_watch_look(found[i], address, address + 1, &region) ||
            !(region.flags & WATCH_FREED))
            continue;
        quipu_watch_refresh(region.address, region.address + region.size);
        any = true;
    }
    return any;
}

bool quipu_watch_describe_block(uint32_t index, const struct watch_region *region,
                                struct quipu_block *block) {
    const struct watch_block *found = block_at((uint32_t)region->handler - 1);
    *block =
        (struct quipu_block){found->number, found->whole_address, found->whole_size, found->freed};
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&region_at(index)->generation, __ATOMIC_ACQUIRE) == region->generation;
}
