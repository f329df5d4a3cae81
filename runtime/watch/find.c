/* find.c: finds the regions that overlap a range.
 *
 * It takes no lock. If `sequence` is odd, or has changed meanwhile, a change was in progress, and
 * the result is discarded. A read during a change may give mixed values, but stays within the
 * arrays, and the length of each chain walk is limited. After several failures it takes the
 * lock. */
#include "runtime/watch/watch.h"

enum {
    TRIES = 8,             /* without the lock */
    SHADOW_MOST = 1 << 24, /* most bytes for which the shadow is read first */
};

struct search {
    uint64_t address;
    uint64_t end;
    uint32_t from;
    uint32_t count;
    uint32_t found[WATCH_BATCH];
};

/* Keeps the lowest indices, each once, since a region may be found in two cells. */
static void keep_index(struct search *search, uint32_t index) {
    if (index < search->from)
        return;
    uint32_t place = search->count;
    while (place > 0 && search->found[place - 1] > index)
        place--;
    if (place == WATCH_BATCH || (place > 0 && search->found[place - 1] == index))
        return;
    if (search->count < WATCH_BATCH)
        search->count++;
    for (uint32_t i = search->count - 1; i > place; i--)
        search->found[i] = search->found[i - 1];
    search->found[place] = index;
}

static bool overlaps(const struct watch_region *region, uint64_t address, uint64_t end) {
    return region->size && region->address < end && address < region->address + region->size;
}

/* Returns whether it reached the end of the chain. */
static bool search_cell(struct search *search, uint64_t cell, unsigned level) {
    uint64_t steps = 2 * (uint64_t)WATCH->used + 2;
    uint32_t node = __atomic_load_n(bucket_of(cell, level), __ATOMIC_RELAXED);
    while (node && steps--) {
        uint32_t index = (node - 1) >> 1;
        if (index >= WATCH->used)
            return false;
        const struct watch_region *region = region_at(index);
        if (!region)
            return false;
        if (overlaps(region, search->address, search->end))
            keep_index(search, index);
        node = __atomic_load_n(&region->next[which_of(node)], __ATOMIC_RELAXED);
    }
    return node == 0;
}

static bool search_all(struct search *search) {
    for (uint32_t i = search->from; i < WATCH->used && search->count < WATCH_BATCH; i++) {
        const struct watch_region *region = region_at(i);
        if (region && overlaps(region, search->address, search->end))
            keep_index(search, i);
    }
    return true;
}

static bool search_cells(struct search *search) {
    uint32_t levels = __atomic_load_n(&WATCH->levels, __ATOMIC_RELAXED);
    for (; levels; levels &= levels - 1) {
        unsigned level = (unsigned)__builtin_ctz(levels);
        uint64_t first = search->address >> shift_of(level);
        uint64_t last = (search->end - 1) >> shift_of(level);
        if (last - first > WATCH->used) {
            search->count = 0;
            return search_all(search);
        }
        for (uint64_t cell = first; cell <= last; cell++)
            if (!search_cell(search, cell, level))
                return false;
    }
    return true;
}

/* Waits until the sequence is even, and returns it. */
static uint64_t begin_look(void) {
    uint64_t sequence;
    while ((sequence = __atomic_load_n(&WATCH_WIPED->sequence, __ATOMIC_ACQUIRE)) & 1)
        __builtin_ia32_pause();
    return sequence;
}

static bool is_unchanged(uint64_t sequence) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&WATCH_WIPED->sequence, __ATOMIC_RELAXED) == sequence;
}

/* Without a shadow: skips segments that do not exist. */
static bool is_counted(uint64_t granule, uint64_t last) {
    enum {
        SEGMENT = 1 << 12
    };
    while (granule <= last) {
        const uint8_t *counter = quipu_watch_counter(granule, false);
        if (counter && *counter)
            return true;
        granule = counter ? granule + 1 : (granule | (SEGMENT - 1)) + 1;
    }
    return false;
}

bool quipu_watch_is_marked(uint64_t address, uint64_t end) {
    if (end - address > SHADOW_MOST || end > ADDRESSES_END)
        return true;
    uint64_t first = address >> QUIPU_WATCH_GRANULE_BITS;
    uint64_t last = (end - 1) >> QUIPU_WATCH_GRANULE_BITS;
    if (WATCH->no_shadow)
        return is_counted(first, last);
    for (uint64_t granule = first & -(uint64_t)8; granule <= last; granule += 8)
        if (*(const volatile uint64_t *)(QUIPU_WATCH_SHADOW + granule))
            return true;
    return false;
}

/* Repeats the search until nothing changed during it. */
static void search_quietly(struct search *search) {
    for (int i = 0; i < TRIES; i++) {
        uint64_t sequence = begin_look();
        search->count = 0;
        if (search_cells(search) && is_unchanged(sequence))
            return;
    }
    uint64_t mask = quipu_watch_lock();
    search->count = 0;
    search_cells(search);
    quipu_watch_release_lock();
    restore_signals(mask);
}

unsigned quipu_watch_find(uint64_t address, uint64_t end, uint32_t from,
                          uint32_t found[WATCH_BATCH]) {
    struct search search;
    if (address >= end || !WATCH->armed || !quipu_watch_is_marked(address, end))
        return 0;
    search.address = address;
    search.end = end;
    search.from = from;
    search_quietly(&search);
    for (uint32_t i = 0; i < search.count; i++)
        found[i] = search.found[i];
    return search.count;
}

bool quipu_watch_look(uint32_t index, uint64_t address, uint64_t end, struct watch_region *region) {
    uint64_t sequence;
    do {
        sequence = begin_look();
        copy_bytes(region, region_at(index), sizeof *region);
    } while (!is_unchanged(sequence));
    return overlaps(region, address, end);
}
