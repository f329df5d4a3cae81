/* memory_map.h: the mappings of a process, one after the other, in the order of their addresses.
 *
 * proc(5): /proc/PID/maps has a line "START-END rwxp OFFSET DEVICE INODE PATH" for each one. */
#ifndef QUIPU_UTIL_MEMORY_MAP_H
#define QUIPU_UTIL_MEMORY_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>

struct memory_map {
    FILE *file; /* NULL: the kernel did not let us read it, and 'errno' had told why */
    char *line;
    size_t room;
};

struct memory_mapping {
    uint64_t start, end;
    uint64_t offset; /* in the file */
    uint64_t
        device; /* of the file: its major number in the upper half, its minor one in the other */
    uint64_t inode; /* 0: there is no file */
    int protection; /* PROT_READ, PROT_WRITE, PROT_EXEC */
    bool is_shared;
    bool is_file;
    const char *path; /* of the file, " (deleted)" included, or a name such as "[stack]", or "";
                         valid up to the next call of memory_map_next() */
};

/* Whether the process may both read and write the memory. */
static inline bool is_read_and_written(const struct memory_mapping *mapping) {
    return (mapping->protection & (PROT_READ | PROT_WRITE)) == (PROT_READ | PROT_WRITE);
}

/* Begins with the first mapping of PROCESS, a process or one of its threads. Returns whether its
 * memory map can be read. In any case memory_map_close() has to follow. */
bool memory_map_open(struct memory_map *map, pid_t process);

/* Sets MAPPING to the next one. Returns false behind the last one, and of a map that is not open.
 */
bool memory_map_next(struct memory_map *map, struct memory_mapping *mapping);

/* Returns whether all was read, without an error. 'errno' tells of one. */
bool memory_map_close(struct memory_map *map);

/* Sets MAPPING to what the LINE of a memory map says; its path is in the line, whose end is cut
 * off. Returns whether it is such a line. */
bool read_memory_mapping(char *line, struct memory_mapping *mapping);

#endif
