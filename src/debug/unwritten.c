/* unwritten.c: see unwritten.h.
 *
 * What was found is kept with the earlier checkpoint, as the pages are not shared any more then.
 *
 * Not perfect: other memory in the same page is the same to it, and so is a page that the program
 * lets the kernel merge (MADV_MERGEABLE), if it has equal contents at both places. */
#include "debug/unwritten.h"

#include "tracee/tracee.h"
#include "util/page_map.h"

#include <string.h>

enum {
    PAGE = PAGE_MAP_PAGE
};

struct watched_pages {
    uint64_t addresses[UNWRITTEN_MAX];
    size_t count;
};

static struct watched_pages list_pages(const struct timeline *timeline) {
    struct watched_pages pages = {.count = 0};
    for (size_t i = 0; i < timeline->points.count; i++) {
        const struct point *point = &timeline->points.points[i];
        for (uint64_t at = point->address & -(uint64_t)PAGE; at < point->address + point->size;
             at += PAGE)
            if (pages.count < UNWRITTEN_MAX)
                pages.addresses[pages.count++] = at;
    }
    return pages;
}

bool watches_writes_alone(const struct timeline *timeline) {
    uint64_t pages = 0;
    for (size_t i = 0; i < timeline->points.count; i++) {
        if (timeline->points.points[i].kind != POINT_WRITE)
            return false;
        pages += timeline->points.points[i].size / PAGE + 2;
    }
    return pages && pages <= UNWRITTEN_MAX && !catches_some(&timeline->calls);
}

/* Returns what the kernel tells of the page, or 0. */
static uint64_t entry_of(pid_t process, uint64_t page) {
    struct page_map map;
    uint64_t entry;
    page_map_open(&map, process);
    page_map_entry(&map, page, &entry);
    page_map_close(&map);
    return entry;
}

/* Gives PROCESS a page of its own, with the same contents. Returns false if that is not possible.
 */
static bool separate(pid_t process, uint64_t page) {
    uint8_t byte;
    if (!process || entry_of(process, page) & PAGE_EXCLUSIVE)
        return true;
    return !peek_memory(process, page, &byte, 1) || write_memory(process, page, &byte, 1);
}

/* The kernel's page of zeros is shared by all, so contents must be others. */
static bool is_same(pid_t one, pid_t other, uint64_t page) {
    uint8_t first[PAGE], second[PAGE];
    static const uint8_t zeros[PAGE];
    return peek_memory(one, page, first, PAGE) && peek_memory(other, page, second, PAGE) &&
           memcmp(first, second, PAGE) == 0 && memcmp(first, zeros, PAGE) != 0;
}

/* Whether a page may have come to another address between the two places. */
static bool was_moved(const struct timeline *timeline, uint64_t from, uint64_t to) {
    for (size_t i = 0; i < timeline->moves.count; i++)
        if (timeline->moves.data[i] > from && timeline->moves.data[i] <= to)
            return true;
    return false;
}

static bool is_known(const struct checkpoint *from, uint64_t page) {
    for (size_t i = 0; i < from->unwritten_count; i++)
        if (from->unwritten[i] == page)
            return true;
    return false;
}

/* Whether LATER is the checkpoint behind FROM. */
static bool is_next(const struct timeline *timeline, const struct checkpoint *from,
                    const struct stand *later) {
    for (size_t i = 0; i + 1 < timeline->count; i++)
        if (timeline->checkpoints[i] == from)
            return timeline->checkpoints[i + 1]->stand.process == later->process;
    return false;
}

static void note(struct checkpoint *from, uint64_t page) {
    if (from->unwritten_count == UNWRITTEN_MAX)
        memmove(from->unwritten, from->unwritten + 1,
                --from->unwritten_count * sizeof *from->unwritten);
    from->unwritten[from->unwritten_count++] = page;
}

/* Only LATER, FROM and the checkpoints in front of it may share the page then. */
static bool separate_others(struct timeline *timeline, const struct checkpoint *from,
                            const struct stand *later, const pid_t *others, size_t count,
                            uint64_t page) {
    bool is_behind = false, good = separate(timeline_process(timeline), page);
    for (size_t i = 0; i < timeline->count; i++) {
        const struct checkpoint *at = timeline->checkpoints[i];
        if (is_behind && at->stand.process != later->process)
            good = good && separate(at->stand.process, page);
        is_behind |= at == from;
    }
    for (size_t i = 0; i < count; i++)
        if (others[i] != later->process)
            good = good && separate(others[i], page);
    for (size_t i = 0; i < timeline->bookmark_count; i++)
        good = good && separate(timeline->bookmarks[i].process, page);
    return good;
}

bool is_unwritten(struct timeline *timeline, struct checkpoint *from, const struct stand *later,
                  const pid_t *others, size_t count) {
    struct watched_pages pages = list_pages(timeline);
    bool all = true;
    bool moved = was_moved(timeline, from->stand.place.events, later->place.events);
    for (size_t i = 0; i < pages.count; i++) {
        uint64_t page = pages.addresses[i];
        if (is_known(from, page))
            continue;
        bool good = separate_others(timeline, from, later, others, count, page);
        uint64_t entry = entry_of(later->process, page);
        bool is_shared = entry & PAGE_PRESENT && !(entry & (PAGE_EXCLUSIVE | PAGE_OF_FILE));
        bool is_clean =
            good && !moved && is_shared && is_same(from->stand.process, later->process, page);
        separate(later->process, page);
        if (is_clean && is_next(timeline, from, later))
            note(from, page);
        all &= is_clean;
    }
    return all;
}
