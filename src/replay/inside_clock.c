/* inside_clock.c: where the kernel's own code (vDSO) in a process reads the clock; see inside.h.
 *
 * A program that is recorded does not know of that code, so it reads the clock by system calls. The
 * code inside can use it, as what it returns is recorded. It reads the time stamp counter, which
 * the process itself must not: where reads of it fault, that is told to the kernel when the first
 * one in that code has (record_counter.c).
 *
 * The code is the same in all processes, at an address of its own in each. */
#include "replay/inside.h"

#include "util/memory_map.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

/* Whether the clock is the time stamp counter; with others, that code makes system calls. */
static bool is_by_counter(void) {
    char name[16] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    bool is_counter = file && fgets(name, sizeof name, file) && strcmp(name, "tsc\n") == 0;
    if (file)
        fclose(file);
    return is_counter;
}

/* Returns where the code is in PROCESS, or 0. */
static uint64_t find_mapping(pid_t process) {
    struct memory_map map;
    struct memory_mapping mapping;
    uint64_t address = 0;
    memory_map_open(&map, process);
    while (!address && memory_map_next(&map, &mapping))
        if (strcmp(mapping.path, "[vdso]") == 0)
            address = mapping.start;
    memory_map_close(&map);
    return address;
}

/* The parts of our own copy that lead to names. */
struct image {
    const uint8_t *bytes;
    const Elf64_Sym *symbols;
    const char *names;
    size_t count;
};

static bool read_image(struct image *image) {
    image->bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
    if (!image->bytes)
        return false;
    const Elf64_Ehdr *header = (const void *)image->bytes;
    const Elf64_Shdr *sections = (const void *)(image->bytes + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        image->symbols = (const void *)(image->bytes + sections[i].sh_offset);
        image->count = sections[i].sh_size / sizeof *image->symbols;
        image->names = (const char *)image->bytes + sections[sections[i].sh_link].sh_offset;
    }
    return image->symbols;
}

static uint64_t find_function(const struct image *image, const char *name) {
    for (size_t i = 0; i < image->count; i++)
        if (strcmp(image->names + image->symbols[i].st_name, name) == 0)
            return image->symbols[i].st_value;
    return 0;
}

void inside_find_clock(pid_t process, uint64_t functions[QUIPU_INSIDE_CLOCKS]) {
    static const char *const names[QUIPU_INSIDE_CLOCKS] = {
        [QUIPU_CLOCK_GETTIME] = "__vdso_clock_gettime",
        [QUIPU_CLOCK_TIMEOFDAY] = "__vdso_gettimeofday",
        [QUIPU_CLOCK_TIME] = "__vdso_time",
    };
    struct image image = {0};
    uint64_t address = is_by_counter() && read_image(&image) ? find_mapping(process) : 0;
    for (int i = 0; i < QUIPU_INSIDE_CLOCKS; i++) {
        uint64_t place = address ? find_function(&image, names[i]) : 0;
        functions[i] = place ? address + place : 0;
    }
}
