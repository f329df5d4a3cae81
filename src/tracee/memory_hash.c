/* memory_hash.c: see memory_hash.h.
 *
 * The hashes of pages are added, so it does not matter how the kernel divides memory into mappings.
 * Of private memory without a file only pages are read that the process has (util/page_map.h). */
#include "tracee/memory_hash.h"

#include "tracee/tracee.h"
#include "util/memory_map.h"
#include "util/page_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PAGE = PAGE_MAP_PAGE,
    PAGES = 64, /* that are read at a time */
    LANES = 4
};

struct hashing {
    const address_range_list *left_out;
    int memory;
    struct page_map pages;
    uint64_t hash;
};

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* Several at once, since a processor multiplies several at a time. */
static uint64_t hash_page(uint64_t address, const uint64_t *words) {
    uint64_t hashes[LANES] = {address, 1, 2, 3}, any = 0;
    for (size_t i = 0; i < PAGE / sizeof *words; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            any |= words[i + lane];
            hashes[lane] = mix(hashes[lane], words[i + lane]);
        }
    for (size_t lane = 1; lane < LANES; lane++)
        hashes[0] = mix(hashes[0], hashes[lane]);
    return any ? hashes[0] : 0;
}

static void clear_left_out(const struct hashing *hashing, uint64_t address, uint8_t *bytes,
                           size_t size) {
    for (size_t i = 0; i < hashing->left_out->count; i++) {
        const struct address_range *range = &hashing->left_out->data[i];
        uint64_t start = range->start > address ? range->start : address;
        uint64_t end = range->end < address + size ? range->end : address + size;
        if (start < end)
            memset(bytes + (start - address), 0, end - start);
    }
}

static void hash_mapping(struct hashing *hashing, uint64_t start, uint64_t end, bool is_private) {
    static uint64_t words[PAGES * PAGE / sizeof(uint64_t)];
    for (uint64_t at = start, size; at < end; at += size) {
        bool is_there = true;
        size = end - at < sizeof words ? end - at : sizeof words;
        if (is_private)
            size = page_map_alike(&hashing->pages, at, at + size, &is_there) - at;
        if (!is_there)
            continue;
        ssize_t count = pread(hashing->memory, words, size, (off_t)at);
        if (count < PAGE) { /* behind the end of its file */
            size = PAGE;
            continue;
        }
        size = (uint64_t)count / PAGE * PAGE;
        clear_left_out(hashing, at, (uint8_t *)words, size);
        for (size_t page = 0; page < size / PAGE; page++)
            hashing->hash += hash_page(at + page * PAGE, words + page * (PAGE / sizeof(uint64_t)));
    }
}

static int open_memory(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)process);
    return open(path, O_RDONLY | O_CLOEXEC);
}

bool hash_writable_memory(pid_t process, const address_range_list *left_out, uint64_t *hash) {
    struct hashing hashing = {.left_out = left_out, .memory = open_memory(process)};
    struct memory_map map;
    struct memory_mapping mapping;
    page_map_open(&hashing.pages, process);
    memory_map_open(&map, process);
    while (memory_map_next(&map, &mapping))
        if (is_read_and_written(&mapping))
            hash_mapping(&hashing, mapping.start, mapping.end,
                         !mapping.is_shared && !mapping.inode);
    if (hashing.memory >= 0)
        close(hashing.memory);
    page_map_close(&hashing.pages);
    *hash = hashing.hash;
    return memory_map_close(&map) && hashing.memory >= 0;
}
