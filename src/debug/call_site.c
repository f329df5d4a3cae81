/* call_site.c: finds an instruction that makes a system call; see call_site.h. Any two bytes do,
 * also within another instruction. */
#include "debug/call_site.h"

#include "tracee/tracee.h"
#include "util/memory_map.h"
#include "x86/kernel.h"

#include <sys/mman.h>

enum {
    CHUNK = 1 << 16,
    CALL_SIZE = 2
};

bool is_call_site(pid_t process, uint64_t address) {
    uint8_t code[CALL_SIZE];
    return read_memory(process, address, code, sizeof code) && is_system_call(code);
}

static uint64_t find_in(pid_t process, uint64_t start, uint64_t end) {
    static uint8_t code[CHUNK];
    for (uint64_t at = start; at + CALL_SIZE <= end; at += CHUNK - CALL_SIZE) {
        size_t size = end - at < CHUNK ? (size_t)(end - at) : (size_t)CHUNK;
        if (!read_memory(process, at, code, size))
            return 0;
        for (size_t i = 0; i + CALL_SIZE <= size; i++)
            if (is_system_call(code + i))
                return at + i;
    }
    return 0;
}

uint64_t find_call_site(pid_t process) {
    struct memory_map map;
    struct memory_mapping mapping;
    uint64_t found = 0;
    memory_map_open(&map, process);
    while (!found && memory_map_next(&map, &mapping))
        if (mapping.protection & PROT_EXEC)
            found = find_in(process, mapping.start, mapping.end);
    memory_map_close(&map);
    return found;
}
