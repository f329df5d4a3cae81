/* same_state.c: compares the states of two processes; see same_state.h.
 *
 * General registers are compared first, then vectors, then the few words that told others apart,
 * and at last all memory that may be written. Of that only pages are read that one of the two has
 * (/proc/PID/pagemap). */
#include "debug/same_state.h"

#include "tracee/tracee.h"
#include "x86/call_stop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    CHUNK_PAGES = 64,
    WITNESSES = 16
};

#define PAGE_IS_THERE ((uint64_t)3 << 62) /* present, or swapped out */

bool want_state(struct wanted_state *wanted, pid_t process) {
    wanted->process = process;
    wanted->witnesses.count = 0;
    return get_registers(process, &wanted->registers);
}

void forget_state(struct wanted_state *wanted) {
    arena_release(&wanted->arena);
    wanted->witnesses.count = wanted->witnesses.capacity = 0;
    wanted->witnesses.data = NULL;
}

/* ---- registers ---- */

/* The areas may tell in different ways that a part is in its initial state. */
static bool has_vectors(const struct registers *wanted, const struct registers *found) {
    enum {
        VECTORS = 32,
        MASKS = 8
    };
    uint8_t one[VECTOR_BYTES], other[VECTOR_BYTES];
    if (wanted->vector_size == found->vector_size &&
        memcmp(wanted->vectors, found->vectors, wanted->vector_size) == 0)
        return true;
    for (unsigned i = 0; i < VECTORS; i++) {
        vector_register(wanted, i, one);
        vector_register(found, i, other);
        if (memcmp(one, other, sizeof one) != 0)
            return false;
    }
    for (unsigned i = 0; i < MASKS; i++)
        if (mask_register(wanted, i) != mask_register(found, i))
            return false;
    return has_same_stack(wanted, found);
}

/* ---- memory ---- */

static bool has_witnessed(struct wanted_state *wanted, pid_t process) {
    for (size_t i = 0; i < wanted->witnesses.count; i++) {
        const struct witness *witness = &wanted->witnesses.data[i];
        uint64_t value = 0;
        if (!read_memory(process, witness->address, &value, sizeof value) ||
            value != witness->value)
            return false;
    }
    return true;
}

static void add_witness(struct wanted_state *wanted, uint64_t address, const uint8_t *bytes) {
    struct witness witness = {.address = address};
    memcpy(&witness.value, bytes, sizeof witness.value);
    if (wanted->witnesses.count < WITNESSES)
        vector_push(&wanted->arena, &wanted->witnesses, witness);
    else
        wanted->witnesses.data[address / sizeof(uint64_t) % WITNESSES] = witness;
}

/* Two processes' pages of one mapping. */
struct pages {
    pid_t wanted, found;
    int maps[2];        /* their /proc/PID/pagemap */
    uint64_t *there[2]; /* of CHUNK_PAGES pages */
    uint8_t *bytes[2];
};

static bool open_pages(struct pages *pages, pid_t wanted, pid_t found) {
    const pid_t processes[2] = {wanted, found};
    *pages = (struct pages){.wanted = wanted, .found = found, .maps = {-1, -1}};
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/pagemap", (int)processes[i]);
        pages->maps[i] = open(path, O_RDONLY | O_CLOEXEC);
        pages->there[i] = malloc(CHUNK_PAGES * sizeof(uint64_t));
        pages->bytes[i] = malloc((size_t)CHUNK_PAGES * PAGE);
    }
    return pages->there[0] && pages->there[1] && pages->bytes[0] && pages->bytes[1];
}

static void close_pages(struct pages *pages) {
    for (int i = 0; i < 2; i++) {
        if (pages->maps[i] >= 0)
            close(pages->maps[i]);
        free(pages->there[i]);
        free(pages->bytes[i]);
    }
}

/* Notes which of COUNT pages at ADDRESS are there; where the kernel does not tell, all are. */
static void find_pages(struct pages *pages, uint64_t address, size_t count) {
    for (int i = 0; i < 2; i++) {
        ssize_t size = (ssize_t)(count * sizeof(uint64_t));
        if (pread(pages->maps[i], pages->there[i], (size_t)size,
                  (off_t)(address / PAGE * sizeof(uint64_t))) != size)
            memset(pages->there[i], 0xff, (size_t)size);
    }
}

/* Compares SIZE bytes at ADDRESS. Memory that neither can read is equal. */
static bool has_bytes(struct wanted_state *wanted, struct pages *pages, uint64_t address,
                      size_t size) {
    bool one = read_memory(pages->wanted, address, pages->bytes[0], size);
    bool other = read_memory(pages->found, address, pages->bytes[1], size);
    if (!one || !other)
        return one == other;
    if (memcmp(pages->bytes[0], pages->bytes[1], size) == 0)
        return true;
    for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t))
        if (memcmp(pages->bytes[0] + i, pages->bytes[1] + i, sizeof(uint64_t)) != 0) {
            add_witness(wanted, address + i, pages->bytes[0] + i);
            break;
        }
    return false;
}

static bool has_mapping(struct wanted_state *wanted, struct pages *pages, uint64_t start,
                        uint64_t end) {
    for (uint64_t at = start; at < end; at += (uint64_t)CHUNK_PAGES * PAGE) {
        size_t left = (size_t)(end - at) / PAGE, count = left < CHUNK_PAGES ? left : CHUNK_PAGES;
        find_pages(pages, at, count);
        for (size_t i = 0, run = 0; i <= count; i++) {
            bool there = i < count && (pages->there[0][i] | pages->there[1][i]) & PAGE_IS_THERE;
            if (!there && run && !has_bytes(wanted, pages, at + (i - run) * PAGE, run * PAGE))
                return false;
            run = there ? run + 1 : 0;
        }
    }
    return true;
}

/* Reads the next mapping that may be written, a line "START-END rw...". */
static bool next_mapping(FILE *file, uint64_t *start, uint64_t *end) {
    char *line = NULL, *at;
    size_t room = 0;
    bool found = false;
    while (!found && getline(&line, &room, file) > 0) {
        *start = strtoull(line, &at, 16);
        *end = strtoull(at + 1, &at, 16);
        found = strncmp(at, " rw", 3) == 0;
    }
    free(line);
    return found;
}

static FILE *open_mappings(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
    return fopen(path, "re");
}

static bool has_memory(struct wanted_state *wanted, pid_t process) {
    FILE *one = open_mappings(wanted->process), *other = open_mappings(process);
    struct pages pages;
    bool good = open_pages(&pages, wanted->process, process) && one && other, more = good;
    while (good && more) {
        uint64_t starts[2] = {0}, ends[2] = {0};
        more = next_mapping(one, &starts[0], &ends[0]);
        good = next_mapping(other, &starts[1], &ends[1]) == more &&
               (!more || (starts[0] == starts[1] && ends[0] == ends[1] &&
                          has_mapping(wanted, &pages, starts[0], ends[0])));
    }
    if (one)
        fclose(one);
    if (other)
        fclose(other);
    close_pages(&pages);
    return good;
}

bool has_state(struct wanted_state *wanted, pid_t process) {
    static struct registers found;
    if (!get_general_registers(process, &found.general) ||
        !has_same_registers(&wanted->registers.general, &found.general) ||
        !has_witnessed(wanted, process) || !get_registers(process, &found))
        return false;
    return has_vectors(&wanted->registers, &found) && has_memory(wanted, process);
}
