/* memory_copy.c: see memory_copy.h.
 *
 * Only pages are read that the process has (util/page_map.h): programs reserve far more memory
 * than they use. What writes to another page makes it one that the process has. That a page of
 * shared memory was there before, and had the same bytes, is not known then. */
#include "tracee/memory_copy.h"

#include "tracee/tracee.h"
#include "util/memory_map.h"
#include "util/page_map.h"

#include <string.h>
#include <sys/uio.h>

enum {
    PAGE = PAGE_MAP_PAGE,
    PIECE = 64 * PAGE /* bytes that are compared at a time */
};

#define COPIED_MAX ((uint64_t)1 << 30)

bool copy_memory_range(struct arena *arena, pid_t process, uint64_t address, uint64_t size,
                       range_list *ranges) {
    uint8_t *bytes = arena_alloc(arena, size);
    struct iovec here = {bytes, size}, there = {(void *)address, size};
    ssize_t count = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (count <= 0)
        return false;
    vector_push(arena, ranges, ((struct memory_range){address, (size_t)count, bytes}));
    return true;
}

/* ---- pages that a process has ---- */

/* What is done with pages from START to END, which follow each other. Returns false to end. */
typedef bool (*pages_visitor)(void *context, uint64_t start, uint64_t end);

/* Visits those of a mapping. */
static bool visit_mapping(struct page_map *pages, uint64_t start, uint64_t end, pages_visitor visit,
                          void *context) {
    bool is_there, good = true;
    for (uint64_t at = start, next; good && at < end; at = next) {
        next = page_map_alike(pages, at, end, &is_there);
        good = !is_there || visit(context, at, next);
    }
    return good;
}

/* Visits all pages that PROCESS has, and may read and write, by their addresses. Returns false if
 * VISIT has, or the memory is not known. */
static bool visit_pages(pid_t process, pages_visitor visit, void *context) {
    struct memory_map map;
    struct memory_mapping mapping;
    struct page_map pages;
    bool good = true;
    page_map_open(&pages, process);
    memory_map_open(&map, process);
    while (good && memory_map_next(&map, &mapping))
        if (is_read_and_written(&mapping))
            good = visit_mapping(&pages, mapping.start, mapping.end, visit, context);
    page_map_close(&pages);
    return memory_map_close(&map) && good;
}

/* ---- copies ---- */

struct copying {
    struct arena *arena;
    pid_t process;
    range_list *ranges;
    uint64_t total;
};

static bool copy_pages(void *context, uint64_t start, uint64_t end) {
    struct copying *copying = context;
    copying->total += end - start;
    if (copying->total > COPIED_MAX)
        return false;
    /* behind the end of a file there is nothing to read */
    copy_memory_range(copying->arena, copying->process, start, end - start, copying->ranges);
    return true;
}

bool copy_writable_memory(struct arena *arena, pid_t process, range_list *ranges) {
    struct copying copying = {arena, process, ranges, 0};
    return visit_pages(process, copy_pages, &copying);
}

/* ---- changes ---- */

struct comparison {
    struct arena *arena;
    pid_t process;
    const range_list *copy;
    size_t next; /* range of the copy; those in front of it end below the pages */
    range_list *ranges;
};

/* Adds the part of a page THEN, whose bytes now are NOW, that has changed. */
static void add_changed(struct arena *arena, const struct memory_range *then, const uint8_t *now,
                        range_list *ranges) {
    size_t first = 0, last = then->size;
    while (first < last && then->bytes[first] == now[first])
        first++;
    while (last > first && then->bytes[last - 1] == now[last - 1])
        last--;
    if (first == last)
        return;
    uint8_t *kept = arena_alloc(arena, last - first);
    memcpy(kept, now + first, last - first);
    vector_push(arena, ranges, ((struct memory_range){then->address + first, last - first, kept}));
}

static void compare_piece(const struct comparison *comparison, uint64_t address, size_t size,
                          const uint8_t *then) {
    static uint8_t now[PIECE];
    if (!read_memory(comparison->process, address, now, size) || memcmp(now, then, size) == 0)
        return;
    for (size_t at = 0; at < size; at += PAGE) {
        struct memory_range page = {address + at, size - at < PAGE ? size - at : PAGE, then + at};
        if (memcmp(now + at, page.bytes, page.size) != 0)
            add_changed(comparison->arena, &page, now + at, comparison->ranges);
    }
}

static bool compare_pages(void *context, uint64_t start, uint64_t end) {
    struct comparison *comparison = context;
    while (start < end) {
        while (comparison->next < comparison->copy->count &&
               comparison->copy->data[comparison->next].address +
                       comparison->copy->data[comparison->next].size <=
                   start)
            comparison->next++;
        const struct memory_range *then = comparison->next < comparison->copy->count
                                              ? &comparison->copy->data[comparison->next]
                                              : NULL;
        bool is_new = !then || then->address > start;
        uint64_t to = is_new ? then ? then->address : end : then->address + then->size;
        to = to < end ? to : end;
        if (!is_new && to - start > PIECE)
            to = start + PIECE;
        if (is_new)
            copy_memory_range(comparison->arena, comparison->process, start, to - start,
                              comparison->ranges);
        else
            compare_piece(comparison, start, to - start, then->bytes + (start - then->address));
        start = to;
    }
    return true;
}

bool find_changed_memory(struct arena *arena, pid_t process, const range_list *copy,
                         range_list *ranges) {
    struct comparison comparison = {arena, process, copy, 0, ranges};
    return visit_pages(process, compare_pages, &comparison);
}
