/* accesses.c: watchpoints for reads, 'rwatch' and 'awatch' in gdb; see points.h.
 *
 * Debug registers tell of reads and writes alike, behind the instruction. Where instructions are
 * stepped, each is decoded, and tells in front of it what it will access. Both say the same, as a
 * way may be gone in one manner and again in the other: whether a read or a write, an access is a
 * hit; a watchpoint for reads has none where the value changes.
 *
 * Not perfect: a write of the same value is taken for a read. What system calls read is no hit. */
#include "debug/points.h"

#include "tracee/tracee.h"
#include "x86/accessed.h"
#include "x86/decode.h"

#include <string.h>

enum {
    INSTRUCTION_MAX = 15
};

bool is_accessed(const struct point *point) {
    return point->kind == POINT_READ || point->kind == POINT_ACCESS;
}

struct search {
    const struct points *points;
    const struct point *found;
};

static void take(void *context, uint64_t address, uint64_t size) {
    struct search *search = context;
    for (size_t i = 0; i < search->points->count && !search->found; i++) {
        const struct point *point = &search->points->points[i];
        if (is_accessed(point) && address < point->address + point->size &&
            point->address < address + size)
            search->found = point;
    }
}

/* Returns the number of bytes at ADDRESS that can be read, of an instruction. */
static size_t read_code(pid_t process, uint64_t address, uint8_t code[INSTRUCTION_MAX]) {
    size_t count = INSTRUCTION_MAX;
    while (count && !read_memory(process, address, code, count))
        count--;
    return count;
}

const struct point *points_next_access(const struct points *points, pid_t process) {
    static struct registers registers;
    uint8_t code[INSTRUCTION_MAX];
    struct decoded decoded;
    struct search search = {.points = points};
    if (!points_written(points, 0) || !get_registers(process, &registers))
        return NULL;
    uint64_t address = registers.general.rip;
    size_t count = read_code(process, address, code);
    if (!count || !decode_instruction(code, count, &decoded) ||
        (decoded.repeats && registers.general.rcx == 0))
        return NULL;
    for (size_t i = 0; i <= decoded.load_count; i++) {
        const struct access *access = i ? &decoded.loads[i - 1] : &decoded.store;
        struct access_values values = access_values(access, &registers);
        if (access->kind != ACCESS_NONE)
            accessed_parts(access, &values, address + decoded.size, take, &search);
    }
    return search.found;
}

const struct point *points_written(const struct points *points, unsigned registers) {
    for (size_t i = 0; i < points->count; i++) {
        const struct point *point = &points->points[i];
        if (is_accessed(point) && (!registers || point->registers & registers))
            return point;
    }
    return NULL;
}
