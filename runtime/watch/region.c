/* region.c: the table of regions.
 *
 * Cells have 64 << (4 * level) bytes. A region is entered at the first level whose cells are not
 * smaller than the region, in the one or two cells that it overlaps. The regions of a cell form a
 * chain in a hash table. A search looks at one cell of each level in use. So its cost does not
 * depend on the number or size of regions.
 *
 * The shadow counts regions, too, up to 255. A counter that has reached 255 stays there; this costs
 * only time.
 *
 * Not perfect: if many regions are in one cell, its chain is long. A store that covers more cells
 * than there are regions looks at each region. */
#include "format/data_file.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>

enum {
    FIRST_BUCKETS = 10,  /* bits */
    FIRST_UNREAD = 1024, /* indices: one page */
    CHUNK = 256,         /* bytes that are read at once */
    READS_MOST = 1000,   /* of a region that others write all the time */
    WORD = sizeof(uint64_t),
};

static unsigned level_of(uint64_t size) {
    unsigned bits = size > 1 ? 64 - (unsigned)__builtin_clzll(size - 1) : 0;
    return bits <= QUIPU_WATCH_GRANULE_BITS ? 0 : (bits - QUIPU_WATCH_GRANULE_BITS + 3) / 4;
}

/* The region to which a node belongs. */
static inline struct watch_region *region_of(uint32_t node) {
    return region_at((node - 1) >> 1);
}

/* ---- Changes: the lock is held and the sequence is odd ---- */

static void begin_change(void) {
    __atomic_store_n(&WATCH_WIPED->sequence, WATCH_WIPED->sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(void) {
    __atomic_store_n(&WATCH_WIPED->sequence, WATCH_WIPED->sequence + 1, __ATOMIC_RELEASE);
}

static void link_node(struct watch_region *region, uint32_t node, uint64_t cell, unsigned level) {
    uint32_t *bucket = bucket_of(cell, level);
    unsigned which = which_of(node);
    region->next[which] = *bucket;
    region->previous[which] = 0;
    if (*bucket)
        region_of(*bucket)->previous[which_of(*bucket)] = node;
    *bucket = node;
}

static void link_region(uint32_t index) {
    struct watch_region *region = region_at(index);
    unsigned level = level_of(region->size);
    uint64_t first = region->address >> shift_of(level);
    uint64_t last = (region->address + region->size - 1) >> shift_of(level);
    for (uint64_t cell = first; cell <= last; cell++)
        link_node(region, index * 2 + (uint32_t)(cell - first) + 1, cell, level);
}

static void unlink_region(const struct watch_region *region) {
    unsigned level = level_of(region->size);
    uint64_t first = region->address >> shift_of(level);
    uint64_t last = (region->address + region->size - 1) >> shift_of(level);
    for (uint64_t cell = first; cell <= last; cell++) {
        unsigned which = (unsigned)(cell - first);
        uint32_t next = region->next[which], previous = region->previous[which];
        if (previous)
            region_of(previous)->next[which_of(previous)] = next;
        else
            *bucket_of(cell, level) = next;
        if (next)
            region_of(next)->previous[which_of(next)] = previous;
    }
}

/* Doubles the buckets. The old ones stay mapped for readers, but their memory is released. */
static long grow_buckets(void) {
    struct watch *watch = WATCH;
    unsigned old_bits = bits_of(watch->buckets);
    unsigned bits = watch->buckets ? old_bits + 1 : FIRST_BUCKETS;
    uint64_t old = watch->buckets - old_bits;
    uint64_t buckets = (uint64_t)quipu_watch_map(sizeof(uint32_t) << bits);
    if (!buckets)
        return old ? 0 : -ENOMEM; /* keeps the old ones, with longer chains */
    begin_change();
    __atomic_store_n(&watch->buckets, buckets | bits, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < watch->used; i++)
        if (region_at(i)->size)
            link_region(i);
    end_change();
    if (old)
        SYSTEM_CALL(madvise, old, sizeof(uint32_t) << old_bits, MADV_DONTNEED, 0, 0, 0);
    return 0;
}

/* Returns the index of a free record, or -ENOMEM. */
static int64_t take_index(void) {
    struct watch *watch = WATCH;
    if (watch->free) {
        uint32_t index = watch->free - 1;
        watch->free = region_at(index)->next[0];
        return index;
    }
    uint32_t index = watch->used;
    uint64_t place = (uint64_t)index + WATCH_FIRST;
    unsigned segment = 63 - (unsigned)__builtin_clzll(place) - 10;
    if (segment >= WATCH_SEGMENTS)
        return -ENOMEM;
    if (!watch->segments[segment]) {
        uint64_t size = (uint64_t)WATCH_FIRST * sizeof(struct watch_region) << segment;
        struct watch_region *regions = quipu_watch_map(size + PIECE_MOST); /* for reads past a copy,
                                                                            * as in chunks */
        if (!regions)
            return -ENOMEM;
        __atomic_store_n(&watch->segments[segment], regions, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&watch->used, index + 1, __ATOMIC_RELEASE);
    return index;
}

/* Frees the record of a removed region. Its `argument` is the length of the copy. */
static void release(uint32_t index) {
    struct watch_region *region = region_at(index);
    if (region->argument > WATCH_INLINE)
        quipu_watch_free_copy(region->copy, region->argument);
    region->next[0] = WATCH->free;
    WATCH->free = index + 1;
}

/* Keeps a removed region until no thread pins it. */
static void put_in_limbo(uint32_t index) {
    struct watch *watch = WATCH;
    region_at(index)->next[0] = 0;
    if (watch->limbo)
        region_at(watch->limbo_end - 1)->next[0] = index + 1;
    else
        watch->limbo = index + 1;
    watch->limbo_end = index + 1;
}

static bool is_pinned(const struct watch_region *region) {
    return __atomic_load_n(&region->pins, __ATOMIC_SEQ_CST) != 0;
}

/* Frees the first region in limbo, or moves it to the end if it is still pinned. */
static void leave_limbo(void) {
    struct watch *watch = WATCH;
    if (!watch->limbo)
        return;
    uint32_t index = watch->limbo - 1;
    watch->limbo = region_at(index)->next[0];
    if (is_pinned(region_at(index)))
        put_in_limbo(index);
    else
        release(index);
}

/* Releases the memory of an empty page of the shadow. This is delayed, since regions often come and
 * go in the same page. */
static void give_back(uint64_t page) {
    const uint64_t *word = (const uint64_t *)page, *end = (const uint64_t *)(page + QUIPU_PAGE);
    while (word < end && *word == 0)
        word++;
    if (word == end)
        SYSTEM_CALL(madvise, page, QUIPU_PAGE, MADV_DONTNEED, 0, 0, 0);
}

/* Whether the page around the counter at PLACE, which is 0 now, seems to be all 0. Looks at some
 * words only. */
static bool seems_empty(uint64_t place) {
    uint64_t page = place & -(uint64_t)QUIPU_PAGE;
    for (uint64_t step = WORD; step < QUIPU_PAGE; step *= 2)
        for (int side = -1; side < 2; side += 2) {
            uint64_t at = (place & -(uint64_t)WORD) + (uint64_t)side * step;
            if (at - page < QUIPU_PAGE && *(const uint64_t *)at)
                return false;
        }
    return *(const uint64_t *)(place & -(uint64_t)WORD) == 0;
}

/* Handles the counter at PLACE, which has become 0. */
static void note_emptied(uint64_t place) {
    struct watch *watch = WATCH;
    uint64_t page = place & -(uint64_t)QUIPU_PAGE;
    if (watch->emptied[(watch->emptied_count - 1) % WATCH_EMPTIED] == page || !seems_empty(place))
        return;
    uint64_t *oldest = &watch->emptied[watch->emptied_count++ % WATCH_EMPTIED];
    if (*oldest)
        give_back(*oldest);
    *oldest = page;
}

static void add_to_counter(uint64_t granule, bool add) {
    volatile uint8_t *counter = WATCH->no_shadow ? quipu_watch_counter(granule, add)
                                                 : (uint8_t *)QUIPU_WATCH_SHADOW + granule;
    if (!counter || *counter == UINT8_MAX)
        return;
    *counter = (uint8_t)(*counter + (add ? 1 : -1));
    if (*counter == 0 && !WATCH->no_shadow)
        note_emptied((uint64_t)counter);
}

/* The granules from which a store can reach a region: the first ... */
static uint64_t first_granule(uint64_t address) {
    uint64_t reach = QUIPU_WATCH_SPAN - 1;
    return (address > reach ? address - reach : 0) >> QUIPU_WATCH_GRANULE_BITS;
}

/* ... and the last. */
static uint64_t last_granule(uint64_t address, uint64_t size) {
    return (address + size - 1) >> QUIPU_WATCH_GRANULE_BITS;
}

/* Increments the counters of the region's granules, or decrements them. */
static void mark_shadow(uint64_t address, uint64_t size, bool add) {
    uint64_t last = last_granule(address, size);
    for (uint64_t granule = first_granule(address); granule <= last; granule++)
        add_to_counter(granule, add);
}

static int64_t id_of(uint32_t index) {
    return (int64_t)((uint64_t)(region_at(index)->generation & INT32_MAX) << 32 | (index + 1));
}

/* Enters the region. The record's other members are set. */
static void enter(uint32_t index, uint64_t address, uint64_t size) {
    struct watch *watch = WATCH;
    struct watch_region *region = region_at(index);
    unsigned level = level_of(size);
    begin_change();
    region->address = address;
    region->size = size;
    quipu_watch_classify(region);
    link_region(index);
    watch->level_counts[level]++;
    watch->levels |= (uint32_t)1 << level;
    watch->count++;
    end_change();
}

/* Makes room for one more index in `unread_list`. Without memory all regions are read. */
static bool has_unread_room(void) {
    struct watch *watch = WATCH;
    if (watch->unread < watch->unread_room)
        return true;
    uint32_t room = watch->unread_room ? 2 * watch->unread_room : FIRST_UNREAD;
    uint32_t *list = quipu_watch_map(room * sizeof *list);
    if (!list)
        return false;
    copy_bytes(list, watch->unread_list, watch->unread_room * sizeof *list);
    if (watch->unread_list)
        SYSTEM_CALL(munmap, watch->unread_list, round_to_page(watch->unread_room * sizeof *list), 0,
                    0, 0, 0);
    watch->unread_list = list;
    watch->unread_room = room;
    return true;
}

/* Makes the COUNT bytes at KNOWN those at NOW. Returns whether they were. */
static bool follow(volatile uint8_t *known, const volatile uint8_t *now, uint64_t count) {
    bool was_same = true;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t byte = now[i];
        if (known[i] == byte)
            continue;
        known[i] = byte;
        was_same = false;
    }
    return was_same;
}

/* Brings the region's copy up to date. Returns whether it was. */
static bool read_again(struct watch_region *region, bool is_steady) {
    uint8_t now[CHUNK];
    bool was_same = true;
    if (is_steady)
        return follow(bytes_of(region), (const uint8_t *)region->address, region->size);
    for (uint64_t at = 0; at < region->size; at += CHUNK) {
        uint64_t count = lesser(region->size - at, CHUNK);
        was_same &=
            follow(bytes_of(region) + at, now, quipu_watch_read(now, region->address + at, count));
    }
    return was_same;
}

/* The checks of the region's stores are on already: another thread may write there meanwhile, and
 * update the copy before this does. So the copy is read again until it is what the memory is. */
static void read_region(uint32_t index) {
    struct watch_region *region = region_at(index);
    if (!region->size || !(region->flags & WATCH_UNKNOWN))
        return;
    bool is_steady = quipu_watch_is_steady(region), is_known = false;
    if (is_steady)
        copy_bytes(bytes_of(region), (const void *)region->address, region->size);
    else
        quipu_watch_read(bytes_of(region), region->address, region->size);
    for (unsigned i = 0; i < READS_MOST && !is_known && !quipu_watch_is_alone(); i++) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        is_known = read_again(region, is_steady);
    }
    region->flags &= (uint16_t)~WATCH_UNKNOWN;
}

void quipu_watch_read_new(void) {
    struct watch *watch = WATCH;
    if (is_forking())
        return;
    uint64_t mask = quipu_watch_lock();
    uint64_t begin = __builtin_ia32_rdtsc();
    if (watch->unread > watch->unread_room)
        for (uint32_t i = 0; i < watch->used; i++)
            read_region(i);
    else
        for (uint32_t i = 0; i < watch->unread; i++)
            read_region(watch->unread_list[i]);
    if (watch->unread > FIRST_UNREAD)
        SYSTEM_CALL(madvise, watch->unread_list,
                    round_to_page(watch->unread_room * sizeof *watch->unread_list), MADV_DONTNEED,
                    0, 0, 0);
    watch->unread = 0;
    watch->unsettled = true;
    quipu_watch_put_off_comparison(begin);
    quipu_watch_unlock(mask);
}

/* Notes that the region's bytes must be read before the next call. Blocks may be many, and are read
 * at once. */
static void note_unread(uint32_t index, const struct watch_region *wanted) {
    struct watch *watch = WATCH;
    struct watch_region *region = region_at(index);
    if (wanted->flags & WATCH_BLOCK) {
        quipu_watch_read(copy_of(region, wanted->size), wanted->address, wanted->size);
        watch->block_regions++;
        return;
    }
    if (index >= watch->others_end)
        watch->others_end = index + 1;
    region->flags |= WATCH_UNKNOWN;
    if (watch->unread > watch->unread_room)
        return;
    if (has_unread_room())
        watch->unread_list[watch->unread] = index;
    watch->unread++;
}

/* If there are few regions, a variable is read at once after all, so that calls need not report
 * their begins. This is not done if the variable may be a stack, on which the runtime's own frames
 * are at present. The checks of all its stores are armed by now. */
static void read_variable(uint32_t index) {
    struct watch *watch = WATCH;
    if (watch->count > WATCH_FEW || watch->stacks_anywhere ||
        !quipu_watch_is_steady(region_at(index)) || !watch->unread ||
        watch->unread > watch->unread_room || watch->unread_list[watch->unread - 1] != index)
        return;
    read_region(index);
    watch->unread--;
}

int64_t quipu_watch_add_locked(const struct watch_region *wanted) {
    struct watch *watch = WATCH;
    if (wanted->size == 0 || wanted->address >= ADDRESSES_END ||
        wanted->size > ADDRESSES_END - wanted->address)
        return -EINVAL;
    if (!watch->buckets || watch->count >> bits_of(watch->buckets)) {
        long error = grow_buckets();
        if (error < 0)
            return error;
    }
    int64_t index = take_index();
    if (index < 0)
        return index;
    struct watch_region *region = region_at((uint32_t)index);
    if (wanted->size > WATCH_INLINE) {
        uint8_t *copy = quipu_watch_new_copy(wanted->size);
        if (!copy) {
            region->argument = 0;
            release((uint32_t)index);
            return -ENOMEM;
        }
        region->copy = copy;
    }
    region->handler = wanted->handler;
    region->argument = wanted->argument;
    region->flags = wanted->flags;
    /* Checks for a local are armed already. They are enough unless a stack may be in the local. */
    bool is_frame = wanted->flags & WATCH_LOCAL && !watch->stacks_anywhere && !watch->stack_count;
    long refused =
        is_frame ? 0 : quipu_watch_arm_stores(wanted->address, wanted->address + wanted->size);
    if (refused == 0)
        refused = quipu_watch_open_shadow(first_granule(wanted->address),
                                          last_granule(wanted->address, wanted->size));
    if (refused < 0) {
        region->argument = wanted->size;
        release((uint32_t)index);
        return refused;
    }
    watch->made++;
    note_unread((uint32_t)index, wanted);
    enter((uint32_t)index, wanted->address, wanted->size);
    mark_shadow(wanted->address, wanted->size, true);
    quipu_watch_arm();
    refused = quipu_watch_stop_loops();
    if (refused < 0)
        quipu_watch_remove_locked(id_of((uint32_t)index));
    else
        read_variable((uint32_t)index);
    return refused < 0 ? refused : id_of((uint32_t)index);
}

int64_t quipu_watch_add(uint64_t address, uint64_t size, uint64_t handler, uint64_t argument,
                        uint32_t flags) {
    struct watch_region wanted = {.address = address,
                                  .size = size,
                                  .handler = handler,
                                  .argument = argument,
                                  .flags = (uint16_t)flags};
    if (!quipu_watch_ready)
        return -ENOSYS;
    uint64_t mask = quipu_watch_lock();
    int64_t id = quipu_watch_add_locked(&wanted);
    quipu_watch_unlock(mask);
    return id;
}

void quipu_watch_arm(void) {
    WATCH->is_late |= !WATCH->armed && !WATCH->is_late && !quipu_watch_is_only_thread();
    __atomic_store_n(&WATCH->armed, 1, __ATOMIC_RELEASE);
}

void quipu_watch_disarm(void) {
    if (WATCH->count == 0 && WATCH->heaps_active == 0)
        __atomic_store_n(&WATCH->armed, 0, __ATOMIC_RELEASE);
}

static void remove_locked(uint32_t index) {
    struct watch *watch = WATCH;
    struct watch_region *region = region_at(index);
    unsigned level = level_of(region->size);
    mark_shadow(region->address, region->size, false);
    quipu_watch_declassify(region);
    begin_change();
    unlink_region(region);
    region->argument = region->size;
    region->size = 0;
    __atomic_fetch_add(&region->generation, 1, __ATOMIC_SEQ_CST); /* before the test for pins */
    if (--watch->level_counts[level] == 0)
        watch->levels &= ~((uint32_t)1 << level);
    watch->count--;
    watch->block_regions -= (region->flags & WATCH_BLOCK) != 0;
    end_change();
    quipu_watch_narrow_bounds(region->address, region->address + region->argument);
    leave_limbo();
    if (is_pinned(region))
        put_in_limbo(index);
    else
        release(index);
    quipu_watch_disarm();
}

static bool is_there(int64_t id) {
    uint32_t index = (uint32_t)id - 1;
    return id > 0 && index < WATCH->used && region_at(index)->size && id_of(index) == id;
}

void quipu_watch_remove_locked(int64_t id) {
    if (is_there(id))
        remove_locked((uint32_t)id - 1);
}

bool quipu_watch_range_of(int64_t id, struct watch_range *range) {
    if (id <= 0 || !quipu_watch_ready)
        return false;
    uint64_t mask = quipu_watch_lock();
    bool is_known = is_there(id);
    if (is_known)
        *range = (struct watch_range){region_at((uint32_t)id - 1)->address,
                                      region_at((uint32_t)id - 1)->size};
    quipu_watch_unlock(mask);
    return is_known;
}

int quipu_watch_remove(int64_t id) {
    if (id <= 0 || !quipu_watch_ready)
        return -ENOENT;
    uint64_t mask = quipu_watch_lock();
    int error = is_there(id) ? 0 : -ENOENT;
    quipu_watch_remove_locked(id);
    quipu_watch_unlock(mask);
    return error;
}
