/* call_site.c: finds an instruction that makes a system call; see call_site.h. Any two bytes do,
 * also within another instruction. */
#include "debug/call_site.h"

#include "tracee/tracee.h"
#include "x86/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    char path[64], *line = NULL, *at;
    size_t room = 0;
    uint64_t found = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    FILE *file = fopen(path, "re");
    while (file && !found && getline(&line, &room, file) > 0) {
        uint64_t start = strtoull(line, &at, 16), end = strtoull(at + 1, &at, 16);
        if (strlen(at) > 3 && at[3] == 'x')
            found = find_in(process, start, end);
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}
