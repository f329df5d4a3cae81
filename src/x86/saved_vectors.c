/* saved_vectors.c: areas of xsavec on the stack; see saved_vectors.h.
 *
 * The Intel manual, volume 1, 13.4: behind the legacy region of 512 bytes and the header of 64, the
 * components that were asked for are side by side, by the number of their bit. The header begins
 * with the set of those that are stored, and that of those that were asked for, with bit 63. The
 * rest of it is 0, or xrstor faults.
 *
 * glibc, sysdeps/x86_64/dl-trampoline.h: the area is 64 bytes above the stack pointer of
 * _dl_runtime_resolve_xsavec, which then calls _dl_fixup. An area that is no more looks the same,
 * but later frames may have live words in it. So the stack pointer must be close below it, and the
 * thread be in the loader.
 *
 * Not perfect: behind xrstor, in a function that the loader calls to choose another one, and in a
 * handler of a signal that has come in, the area is not seen. What is left over of an area may be
 * in a later function's frame, where that does not write. All that makes equal places different. */
#include "x86/saved_vectors.h"

#include "util/memory_map.h"

#include <cpuid.h>
#include <string.h>
#include <sys/uio.h>

enum {
    XSAVE_LEAF = 0xd,
    ALIGNMENT = 64,
    HEADER_PLACE = 512,
    BEHIND_HEADER = 576,
    MXCSR_PLACE = 24, /* of the component SSE, in such an area */
    MXCSR_INITIAL = 0x1f80,
    SSE_PLACE = 160,
    SSE_END = 416,
    COMPONENT_SSE = 1,
    COMPONENT_AVX = 2,
    COMPONENTS = 19,    /* larger ones are for the kernel, or tiles */
    FLAG_ALIGNED = 2,   /* of a component */
    AREA_MOST = 4096,   /* bytes */
    AREA_PLACE = 64,    /* above the stack pointer of the function that saves */
    LOADER_MOST = 2048, /* bytes of stack below that */
    CODE_AHEAD = 128    /* of that function, from where its frame is made to xrstor */
};

#define COMPACTED ((uint64_t)1 << 63)

struct header {
    uint64_t stored, asked, rest[6];
};

/* Where a component is, from the area's begin; empty, if it was not asked for. */
struct extent {
    uint64_t start, end;
};

struct component {
    bool is_asked;
    unsigned size, flags;
};

static bool peek(pid_t process, uint64_t address, void *bytes, size_t size) {
    struct iovec here = {bytes, size}, there = {(void *)address, size};
    return process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* ---- what is in an area ---- */

/* In a virtual machine the processor's answer is slow. */
static const struct component *ask_component(unsigned number) {
    static struct component components[COMPONENTS];
    struct component *component = &components[number];
    unsigned place, unused;
    if (component->is_asked)
        return component;
    component->is_asked = true;
    if (!__get_cpuid_count(XSAVE_LEAF, number, &component->size, &place, &component->flags,
                           &unused))
        component->size = component->flags = 0;
    return component;
}

static struct extent find_extent(uint64_t asked, unsigned number) {
    if (number <= COMPONENT_SSE)
        return (struct extent){number ? SSE_PLACE : 0, number ? SSE_END : SSE_PLACE};
    struct extent extent = {0, BEHIND_HEADER};
    for (unsigned i = COMPONENT_AVX; i <= number; i++) {
        const struct component *component = ask_component(i);
        extent.start = extent.end;
        if (!(asked >> i & 1))
            continue;
        if (component->flags & FLAG_ALIGNED)
            extent.start = (extent.start + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        extent.end = extent.start + component->size;
    }
    return extent;
}

/* Reads the header of the area at ADDRESS. Returns false if there is no area. */
static bool read_header(pid_t process, uint64_t address, struct header *header) {
    static const uint64_t none[6];
    return peek(process, address + HEADER_PLACE, header, sizeof *header) &&
           header->asked & COMPACTED && header->asked >> COMPONENT_SSE & 1 &&
           (header->asked & ~COMPACTED) >> COMPONENTS == 0 && !(header->stored & ~header->asked) &&
           memcmp(header->rest, none, sizeof none) == 0;
}

/* Whether the component that is stored in the area at ADDRESS is in its initial state. */
static bool is_initial(pid_t process, uint64_t address, uint64_t asked, unsigned number) {
    static uint8_t bytes[AREA_MOST];
    uint32_t control = 0;
    struct extent extent = find_extent(asked, number);
    size_t size = (size_t)(extent.end - extent.start);
    if (size > sizeof bytes || !peek(process, address + extent.start, bytes, size))
        return false;
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return number != COMPONENT_SSE ||
           (peek(process, address + MXCSR_PLACE, &control, sizeof control) &&
            control == MXCSR_INITIAL);
}

/* Whether the components MORE of the area, which the other one has not, are so. */
static bool are_initial(pid_t process, const struct saved_vectors *saved, uint64_t more) {
    if (more & 1) /* the x87's is not 0 */
        return false;
    for (unsigned i = COMPONENT_SSE; i < COMPONENTS; i++)
        if (more >> i & 1 && !is_initial(process, saved->start, saved->asked, i))
            return false;
    return true;
}

/* ---- where one is ---- */

/* Where the code that follows an address saves and restores vectors, in an area on the stack. */
enum ahead {
    AHEAD_NEITHER,
    AHEAD_BOTH,
    AHEAD_RESTORE
};

/* Returns the place of the first such bytes in CODE, or CODE_AHEAD. */
static size_t find_code(const uint8_t *code, const void *bytes, size_t size) {
    const uint8_t *found = memmem(code, CODE_AHEAD, bytes, size);
    return found ? (size_t)(found - code) : CODE_AHEAD;
}

/* In front of its subtraction the function that saves has no area yet. */
static enum ahead look_ahead(pid_t process, uint64_t address) {
    static const uint8_t subtract[] = {0x48, 0x2b, 0x25}, /* n(%rip), %rsp */
        save[] = {0x0f, 0xc7, 0x64, 0x24, AREA_PLACE},    /* n(%rsp) */
        restore[] = {0x0f, 0xae, 0x6c, 0x24, AREA_PLACE};
    uint8_t code[CODE_AHEAD];
    if (!peek(process, address, code, sizeof code))
        return AHEAD_NEITHER;
    size_t restores = find_code(code, restore, sizeof restore);
    if (restores == CODE_AHEAD || find_code(code, subtract, sizeof subtract) < restores)
        return AHEAD_NEITHER;
    return find_code(code, save, sizeof save) < restores ? AHEAD_BOTH : AHEAD_RESTORE;
}

static bool are_in_one_mapping(pid_t process, uint64_t one, uint64_t other) {
    struct memory_map map;
    struct memory_mapping mapping;
    bool found = false;
    memory_map_open(&map, process);
    while (!found && memory_map_next(&map, &mapping)) {
        uint64_t size = mapping.end - mapping.start;
        found = one - mapping.start < size && other - mapping.start < size;
    }
    memory_map_close(&map);
    return found;
}

/* Whether the thread is in what was called by a function that has saved its vectors at ADDRESS. */
static bool was_called_behind(pid_t process, uint64_t address, uint64_t instruction) {
    uint64_t caller;
    return peek(process, address - AREA_PLACE - sizeof caller, &caller, sizeof caller) &&
           look_ahead(process, caller) == AHEAD_RESTORE &&
           are_in_one_mapping(process, instruction, caller);
}

static void take_area(pid_t process, uint64_t address, struct saved_vectors *saved) {
    struct header header;
    *saved = (struct saved_vectors){0};
    if (!read_header(process, address, &header))
        return;
    *saved = (struct saved_vectors){address, address, true, header.stored, header.asked};
    saved->end += find_extent(header.asked, COMPONENTS - 1).end;
}

void find_saved_vectors(pid_t process, const struct user_regs_struct *registers,
                        struct saved_vectors *saved) {
    uint64_t first = (registers->rsp + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + AREA_PLACE;
    enum ahead ahead = look_ahead(process, registers->rip);
    struct header header;
    *saved = (struct saved_vectors){0};
    if (ahead == AHEAD_RESTORE)
        take_area(process, first, saved);
    else if (ahead == AHEAD_BOTH && registers->rbx - first < AREA_MOST)
        *saved = (struct saved_vectors){.start = first, .end = registers->rbx};
    for (uint64_t at = first; at < first + LOADER_MOST && ahead == AHEAD_NEITHER; at += ALIGNMENT)
        if (read_header(process, at, &header) && was_called_behind(process, at, registers->rip)) {
            take_area(process, at, saved);
            return;
        }
}

bool is_in_saved_vectors(const struct saved_vectors *saved, uint64_t address) {
    return address - saved->start < saved->end - saved->start;
}

bool is_same_saved_vector(const struct saved_vectors *saved, pid_t one, pid_t other,
                          uint64_t address) {
    struct header found;
    if (!is_in_saved_vectors(saved, address))
        return false;
    if (!saved->is_written)
        return true;
    if (!read_header(other, saved->start, &found) || found.asked != saved->asked)
        return false;
    uint64_t place = address - saved->start, both = saved->stored & found.stored;
    if (place == HEADER_PLACE)
        return are_initial(one, saved, saved->stored & ~both) &&
               are_initial(other, saved, found.stored & ~both);
    if (place == MXCSR_PLACE)
        place = SSE_PLACE;
    for (unsigned i = 0; i < COMPONENTS; i++) {
        struct extent extent = find_extent(saved->asked, i);
        if (place >= extent.start && place < extent.end)
            return !(both >> i & 1);
    }
    return true; /* between components: nobody's */
}
