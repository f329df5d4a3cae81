/* memory_bound.c: how much memory checkpoints take; see memory_bound.h. */
#include "debug/memory_bound.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t resident_memory(pid_t process) {
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *file = fopen(path, "re");
    char *end = NULL;
    uint64_t pages = 0;
    if (file && fgets(text, sizeof text, file) && (end = strchr(text, ' ')))
        pages = strtoull(end, NULL, 10);
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t shared_out_memory(pid_t process) {
    static const char key[] = "Pss:";
    char path[64], line[256];
    uint64_t kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)process);
    FILE *file = fopen(path, "re");
    while (file && !kilobytes && fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0)
            kilobytes = strtoull(line + sizeof key - 1, NULL, 10);
    if (file)
        fclose(file);
    return kilobytes << 10;
}

uint64_t usual_memory(void) {
    return (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
}
