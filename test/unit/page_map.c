// Which pages of its memory a process has: the runs of those that are there, over many and over few
// pages; those of private, shared and mapped memory; and what is told of a process that is not
// there.
#include "util/page_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE PAGE_MAP_PAGE
#define EXPECT(condition)                                                                          \
    ((condition) ? (void)0 : (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

enum {
    PAGES = 3000
};

static struct page_map map;

static char *reserve(int flags) {
    char *at =
        mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    EXPECT(at != MAP_FAILED);
    madvise(at, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    return at;
}

/* Random runs of pages are written; the map must tell the same runs. */
static void test_runs(int flags, unsigned seed) {
    static bool is_written[PAGES + 1];
    char *at = reserve(flags);
    srand(seed);
    for (int i = 0, run = 0, written = 0; i < PAGES; i++, run--) {
        if (run == 0) {
            run = rand() % 8 ? 1 + rand() % 20 : 1 + rand() % 900;
            written = !written;
        }
        is_written[i] = written;
        if (written)
            at[(size_t)i * PAGE + (size_t)(rand() % PAGE)] = 1;
    }
    page_map_open(&map, getpid());
    const uint64_t end = (uint64_t)at + (uint64_t)PAGES * PAGE;
    for (uint64_t next = (uint64_t)at; next < end;) {
        size_t first = (next - (uint64_t)at) / PAGE, last = first;
        bool is_there;
        while (last < PAGES && is_written[last] == is_written[first])
            last++;
        next = page_map_alike(&map, next, end, &is_there);
        EXPECT(is_there == is_written[first]);
        EXPECT(next == (uint64_t)at + last * PAGE);
    }
    for (int i = 0; i < 500; i++) {
        size_t page = (size_t)(rand() % PAGES);
        EXPECT(page_map_has(&map, (uint64_t)at + page * PAGE + 5) == is_written[page]);
    }
    page_map_close(&map);
    munmap(at, (size_t)PAGES * PAGE);
}

static void test_entry(void) {
    uint64_t entry;
    char *at = reserve(MAP_PRIVATE);
    *at = 1;
    page_map_open(&map, getpid());
    EXPECT(page_map_entry(&map, (uint64_t)at, &entry));
    EXPECT(entry & PAGE_PRESENT && entry & PAGE_EXCLUSIVE && !(entry & PAGE_OF_FILE));
    EXPECT(page_map_entry(&map, (uint64_t)at + PAGE, &entry) && !(entry & PAGE_PRESENT));
    page_map_close(&map);
    char *shared = reserve(MAP_SHARED);
    *shared = 1;
    page_map_open(&map, getpid());
    EXPECT(page_map_entry(&map, (uint64_t)shared, &entry));
    EXPECT(entry & PAGE_PRESENT && entry & PAGE_OF_FILE);
    page_map_close(&map);
}

/* What is not known may be there. */
static void test_unknown(void) {
    uint64_t entry = 1;
    bool is_there = false;
    page_map_open(&map, -1);
    EXPECT(!page_map_entry(&map, PAGE, &entry) && entry == 0);
    EXPECT(page_map_has(&map, PAGE));
    EXPECT(page_map_alike(&map, 7 * PAGE, 9 * PAGE, &is_there) == 9 * PAGE && is_there);
    page_map_close(&map);
}

int main(void) {
    for (unsigned seed = 1; seed <= 20; seed++)
        test_runs(seed % 2 ? MAP_PRIVATE : MAP_SHARED, seed);
    test_entry();
    test_unknown();
    return 0;
}
