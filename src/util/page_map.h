/* page_map.h: which pages of its memory a process has.
 *
 * proc(5): /proc/PID/pagemap has a word for each page of the address space. */
#ifndef QUIPU_UTIL_PAGE_MAP_H
#define QUIPU_UTIL_PAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PAGE_MAP_PAGE = 4096,   /* bytes of a page */
    PAGE_MAP_ENTRIES = 512, /* that are read at a time, at most */
};

/* Of what the kernel tells of a page. */
#define PAGE_PRESENT   ((uint64_t)1 << 63)
#define PAGE_SWAPPED   ((uint64_t)1 << 62)
#define PAGE_OF_FILE   ((uint64_t)1 << 61) /* or of shared memory */
#define PAGE_EXCLUSIVE ((uint64_t)1 << 56) /* no other mapping has it */

struct page_map {
    int file;                           /* -1: the kernel does not tell */
    uint64_t first;                     /* address of the page that the first entry is of */
    size_t count;                       /* of entries that were read */
    uint64_t entries[PAGE_MAP_ENTRIES]; /* of the time when they were read */
};

/* Begins with the pages of PROCESS, a process or one of its threads. page_map_close() has to
 * follow. */
void page_map_open(struct page_map *map, pid_t process);
void page_map_close(struct page_map *map);

/* Sets ENTRY to what the kernel tells of the page at ADDRESS. Returns false, and 0, if it does not.
 */
bool page_map_entry(struct page_map *map, uint64_t address, uint64_t *entry);

/* Whether the process has the page at ADDRESS, in memory or swapped out. Where the kernel does not
 * tell, it may have it. */
bool page_map_has(struct page_map *map, uint64_t address);

/* Returns the end, END at most, of the pages from ADDRESS on that are alike: the process has all of
 * them, or none, as IS_THERE becomes. */
uint64_t page_map_alike(struct page_map *map, uint64_t address, uint64_t end, bool *is_there);

#endif
