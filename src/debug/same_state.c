/* same_state.c: compares the states of two processes; see same_state.h.
 *
 * General registers are compared first, then vectors, then the few words that told others apart,
 * and at last all memory that may be written. Of that only pages are read that one of the two has
 * (util/page_map.h).
 *
 * What is below the stack pointer and its red zone is left out, and the alternate stack of handlers
 * where none runs: the loader stores vectors there by xsavec, which leaves out those that the
 * processor has not used, and that depends on switches of context. A program that reads it has no
 * defined behavior. While the loader uses such an area, that is left out, too (saved_vectors.h).
 *
 * Not perfect: the same below the stack pointers of coroutines that do not run, and of threads
 * other than the first one, makes equal places different. */
#include "debug/same_state.h"

#include "debug/call_site.h"

#include "tracee/tracee.h"
#include "util/memory_map.h"
#include "util/page_map.h"
#include "x86/call_stop.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PAGE = PAGE_MAP_PAGE,
    RED_ZONE = 128,
    DEAD_RANGES = 2,
    CHUNK_PAGES = 64,
    WITNESSES = 48,
    WITNESSES_NEW = 6 /* of one place */
};

bool want_state(struct wanted_state *wanted, pid_t process, const struct play_stacks *stacks) {
    wanted->process = process;
    wanted->stacks = *stacks;
    wanted->witnesses.count = 0;
    wanted->knows_saved = false;
    bool good = get_registers(process, &wanted->registers);
    wanted->at_call = good && is_call_site(process, wanted->registers.general.rip);
    return good;
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

/* Not of words that may differ at the same place. */
static void add_witness(struct wanted_state *wanted, uint64_t address) {
    struct witness witness = {.address = address};
    if (is_in_saved_vectors(&wanted->saved, address) ||
        !read_memory(wanted->process, address, &witness.value, sizeof witness.value))
        return;
    if (wanted->witnesses.count < WITNESSES)
        vector_push(&wanted->arena, &wanted->witnesses, witness);
    else
        wanted->witnesses.data[address / sizeof(uint64_t) % WITNESSES] = witness;
}

struct range {
    uint64_t start, end;
};

/* Two processes' pages of one mapping, and the words that differ. */
struct pages {
    pid_t wanted, found;
    struct range dead[DEAD_RANGES];    /* are left out */
    const struct saved_vectors *saved; /* of `wanted` */
    uint64_t *addresses;
    size_t count, most; /* of addresses; no more are looked for */
    struct page_map *maps[2];
    uint8_t *bytes[2]; /* of CHUNK_PAGES pages */
};

static bool open_pages(struct pages *pages, pid_t wanted, pid_t found) {
    const pid_t processes[2] = {wanted, found};
    pages->wanted = wanted;
    pages->found = found;
    for (int i = 0; i < 2; i++) {
        pages->maps[i] = malloc(sizeof *pages->maps[i]);
        pages->bytes[i] = malloc((size_t)CHUNK_PAGES * PAGE);
        if (pages->maps[i])
            page_map_open(pages->maps[i], processes[i]);
    }
    return pages->maps[0] && pages->maps[1] && pages->bytes[0] && pages->bytes[1];
}

static void close_pages(struct pages *pages) {
    for (int i = 0; i < 2; i++) {
        if (pages->maps[i])
            page_map_close(pages->maps[i]);
        free(pages->maps[i]);
        free(pages->bytes[i]);
    }
}

static bool is_in(const struct range *range, uint64_t address) {
    return address - range->start < range->end - range->start;
}

/* Sets what is left out. FIRST is the stack that the process has from its begin. */
static void find_dead(struct pages *pages, const struct wanted_state *wanted,
                      const struct range *first) {
    const struct range alternate = {wanted->stacks.start, wanted->stacks.end};
    uint64_t top = wanted->registers.general.rsp - RED_ZONE;
    uint64_t interrupted = wanted->stacks.interrupted - RED_ZONE;
    uint64_t others =
        wanted->stacks.others - RED_ZONE; /* the first thread's stack is the highest */
    bool on_alternate = is_in(&alternate, top);
    pages->dead[0] = alternate;
    if (on_alternate)
        pages->dead[0].end = top;
    if (is_in(first, top))
        pages->dead[1] = (struct range){first->start, top};
    else if (on_alternate && is_in(first, interrupted))
        pages->dead[1] = (struct range){first->start, interrupted};
    else if (is_in(first, others))
        pages->dead[1] = (struct range){first->start, others};
}

static bool is_dead(const struct pages *pages, uint64_t address) {
    for (int i = 0; i < DEAD_RANGES; i++)
        if (is_in(&pages->dead[i], address))
            return true;
    return false;
}

static void add_difference(struct pages *pages, uint64_t address) {
    pages->addresses[pages->count++] = address;
}

/* Compares SIZE bytes at ADDRESS. Memory that one of the two cannot read is left out. */
static void compare_bytes(struct pages *pages, uint64_t address, size_t size) {
    if (!peek_memory(pages->wanted, address, pages->bytes[0], size) ||
        !peek_memory(pages->found, address, pages->bytes[1], size) ||
        memcmp(pages->bytes[0], pages->bytes[1], size) == 0)
        return;
    for (size_t i = 0; i < size && pages->count < pages->most; i += sizeof(uint64_t))
        if (memcmp(pages->bytes[0] + i, pages->bytes[1] + i, sizeof(uint64_t)) != 0 &&
            !is_dead(pages, address + i) &&
            !is_same_saved_vector(pages->saved, pages->wanted, pages->found, address + i))
            add_difference(pages, address + i);
}

static void compare_mapping(struct pages *pages, uint64_t start, uint64_t end) {
    for (uint64_t at = start; at < end; at += (uint64_t)CHUNK_PAGES * PAGE) {
        size_t left = (size_t)(end - at) / PAGE, count = left < CHUNK_PAGES ? left : CHUNK_PAGES;
        for (size_t i = 0, run = 0; i <= count && pages->count < pages->most; i++) {
            bool there = i < count && (page_map_has(pages->maps[0], at + i * PAGE) ||
                                       page_map_has(pages->maps[1], at + i * PAGE));
            if (!there && run)
                compare_bytes(pages, at + (i - run) * PAGE, run * PAGE);
            run = there ? run + 1 : 0;
        }
    }
}

typedef VECTOR(struct range) writable_list;

/* Lists the memory of PROCESS that may be written. In copies of a process the kernel divides it
 * into other mappings, so neighbours are joined. */
static bool list_memory(struct arena *arena, pid_t process, writable_list *list,
                        struct range *stack) {
    struct memory_map map;
    struct memory_mapping mapping;
    memory_map_open(&map, process);
    while (memory_map_next(&map, &mapping)) {
        struct range range = {mapping.start, mapping.end};
        if (!is_read_and_written(&mapping))
            continue;
        if (strcmp(mapping.path, "[stack]") == 0)
            *stack = range;
        if (list->count && vector_at(list, list->count - 1)->end == range.start)
            vector_at(list, list->count - 1)->end = range.end;
        else
            vector_push(arena, list, range);
    }
    return memory_map_close(&map);
}

/* Finds words that differ. Returns whether the two processes have memory at the same addresses. */
static bool compare_memory(struct pages *pages, struct wanted_state *wanted, pid_t process) {
    struct arena arena = {0};
    struct range stack = {0, 0};
    writable_list one = {0}, other = {0};
    bool good = list_memory(&arena, wanted->process, &one, &stack) &&
                list_memory(&arena, process, &other, &stack) && one.count == other.count &&
                open_pages(pages, wanted->process, process);
    if (!wanted->knows_saved)
        find_saved_vectors(wanted->process, &wanted->registers.general, &wanted->saved);
    wanted->knows_saved = true;
    pages->saved = &wanted->saved;
    find_dead(pages, wanted, &stack);
    for (size_t i = 0; i < one.count && good; i++)
        good = one.data[i].start == other.data[i].start && one.data[i].end == other.data[i].end;
    for (size_t i = 0; i < one.count && good && pages->count < pages->most; i++)
        compare_mapping(pages, one.data[i].start, one.data[i].end);
    close_pages(pages);
    arena_release(&arena);
    return good;
}

static bool has_memory(struct wanted_state *wanted, pid_t process) {
    uint64_t addresses[WITNESSES_NEW];
    struct pages pages = {.addresses = addresses, .most = WITNESSES_NEW};
    bool good = compare_memory(&pages, wanted, process);
    for (size_t i = 0; i < pages.count; i++)
        add_witness(wanted, addresses[i]);
    return good && pages.count == 0;
}

size_t find_differences(struct wanted_state *wanted, pid_t process,
                        uint64_t *addresses, /* NOLINT(readability-non-const-parameter) */
                        size_t most) {
    struct pages pages = {.addresses = addresses, .most = most};
    compare_memory(&pages, wanted, process);
    return pages.count;
}

bool has_general_registers(const struct wanted_state *wanted, pid_t process) {
    struct user_regs_struct found;
    if (!get_general_registers(process, &found))
        return false;
    if (wanted->at_call) {
        found.rcx = wanted->registers.general.rcx;
        found.r11 = wanted->registers.general.r11;
    }
    return has_same_registers(&wanted->registers.general, &found);
}

bool has_state(struct wanted_state *wanted, pid_t process) {
    static struct registers found;
    return has_general_registers(wanted, process) && has_witnessed(wanted, process) &&
           get_registers(process, &found) && has_vectors(&wanted->registers, &found) &&
           has_memory(wanted, process);
}
