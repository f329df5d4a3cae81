/* watched_memory.h: the memory of the program that watched.c steps: the regions, and the code of
 * the program's functions. */
#ifndef WATCHED_MEMORY_H
#define WATCHED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    REGIONS = 512,  /* one call reads them all: at most IOV_MAX, and one for the code */
    BYTES = 1 << 20 /* of all regions, at most */
};

struct region {
    const char *text;
    uint64_t address;
    size_t size;
};
extern struct region regions[REGIONS];
extern size_t region_count, region_bytes;

/* Sets the address and the size of each region by its text, and region_bytes. */
void find_regions(pid_t tid);

/* Reads all regions, and two bytes of code at PC. */
void read_regions(pid_t pid, uint8_t *bytes, uint64_t pc, uint8_t code[2]);

/* Keeps the code of the program's functions. MEMORY is a descriptor of /proc/PID/mem. */
void read_code(int memory);

/* Writes breakpoints, or what was there, over the program's functions. */
void write_code(int memory, bool breakpoints);

#endif
