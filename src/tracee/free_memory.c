/* free_memory.c: see free_memory.h. */
#include "tracee/free_memory.h"

#include "util/memory_map.h"

uint64_t find_free_memory(pid_t process, uint64_t first, uint64_t last,
                          uint64_t (*choose)(uint64_t start, uint64_t end, uint64_t address),
                          uint64_t address) {
    struct memory_map map;
    struct memory_mapping mapping;
    uint64_t end = first, found = 0;
    memory_map_open(&map, process);
    while (!found && memory_map_next(&map, &mapping)) {
        if (mapping.start > end && mapping.start <= last)
            found = choose(end, mapping.start, address);
        end = mapping.end < first ? first : mapping.end;
    }
    memory_map_close(&map);
    return found;
}
