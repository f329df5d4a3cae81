/* free_memory.c: see free_memory.h. */
#include "tracee/free_memory.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t find_free_memory(pid_t process, uint64_t first, uint64_t last,
                          uint64_t (*choose)(uint64_t start, uint64_t end, uint64_t address),
                          uint64_t address) {
    char path[64], *line = NULL, *at;
    size_t room = 0;
    uint64_t end = first, found = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    FILE *file = fopen(path, "re");
    while (file && !found && getline(&line, &room, file) > 0) {
        uint64_t start = strtoull(line, &at, 16);
        if (start > end && start <= last)
            found = choose(end, start, address);
        end = strtoull(at + 1, NULL, 16);
        end = end < first ? first : end;
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}
