/* page_map.c: which pages of its memory a process has; see page_map.h. */
#include "util/page_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void page_map_open(struct page_map *map, pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/pagemap", (int)process);
    map->file = open(path, O_RDONLY | O_CLOEXEC);
    map->count = 0;
}

void page_map_close(struct page_map *map) {
    if (map->file >= 0)
        close(map->file);
    map->file = -1;
    map->count = 0;
}

/* Reads the entries from that of the page at ADDRESS on: many, if it is behind those that were read
 * last. */
static void read_entries(struct page_map *map, uint64_t address) {
    enum {
        FEW = 8
    };
    uint64_t page = address & -(uint64_t)PAGE_MAP_PAGE;
    bool is_next = map->count && page == map->first + map->count * PAGE_MAP_PAGE;
    size_t count = is_next ? PAGE_MAP_ENTRIES : FEW;
    ssize_t size = pread(map->file, map->entries, count * sizeof *map->entries,
                         (off_t)(page / PAGE_MAP_PAGE * sizeof *map->entries));
    map->first = page;
    map->count = size > 0 ? (size_t)size / sizeof *map->entries : 0;
}

bool page_map_entry(struct page_map *map, uint64_t address, uint64_t *entry) {
    *entry = 0;
    if (map->file < 0)
        return false;
    if ((address - map->first) / PAGE_MAP_PAGE >= map->count)
        read_entries(map, address);
    if (map->count == 0)
        return false;
    *entry = map->entries[(address - map->first) / PAGE_MAP_PAGE];
    return true;
}

bool page_map_has(struct page_map *map, uint64_t address) {
    uint64_t entry;
    return !page_map_entry(map, address, &entry) || entry & (PAGE_PRESENT | PAGE_SWAPPED);
}

uint64_t page_map_alike(struct page_map *map, uint64_t address, uint64_t end, bool *is_there) {
    *is_there = page_map_has(map, address);
    uint64_t at = (address & -(uint64_t)PAGE_MAP_PAGE) + PAGE_MAP_PAGE;
    while (at < end && page_map_has(map, at) == *is_there)
        at += PAGE_MAP_PAGE;
    return at < end ? at : end;
}
