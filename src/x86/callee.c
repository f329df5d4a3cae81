/* callee.c: what known functions of the C library access and allocate; see callee.h.
 *
 * What depends on strings and on pointers in memory is looked for while the program runs
 * (format/trace_measures.h).
 *
 * Not perfect: the library's own memory is left out. So are blocks whose address is returned in
 * memory (posix_memalign). */
#include "x86/callee.h"

#include "format/trace.h"
#include "format/trace_callees.h"
#include "format/trace_measures.h"

#include <string.h>

#define WRITES_ROW(name, a, b, c)   {#name, {a, b, c}},
#define READS_ROW(name, a, b)       {#name, {a, b, 0}},
#define MEASURES_ROW(name, a, b, c) {#name, {a, b, c}},

struct extents_row {
    const char *name;
    uint32_t extents[3];
};

static const struct extents_row writes_rows[] = {QUIPU_CALLEES(WRITES_ROW)};
static const struct extents_row reads_rows[] = {QUIPU_CALLEE_READS(READS_ROW)};
static const struct extents_row measures_rows[] = {QUIPU_MEASURED_CALLEES(MEASURES_ROW)};

/* Of the first six integer arguments, as instructions encode them: %rdi, %rsi, %rdx, %rcx, %r8,
 * %r9. */
static const uint8_t argument_registers[] = {7, 6, 2, 1, 8, 9};

/* Whether arguments and result tell the range of EXTENT. */
static bool is_computable(uint32_t extent) {
    switch (quipu_extent_kind(extent)) {
    case QUIPU_EXTENT_CONSTANT:
        return (extent >> 8 & 15) != 15;
    case QUIPU_EXTENT_BYTES:
    case QUIPU_EXTENT_PRODUCT:
    case QUIPU_EXTENT_TIMES:
    case QUIPU_EXTENT_RESULT:
        return true;
    default:
        return false;
    }
}

static bool copy_extents(const struct extents_row *rows, size_t count, const char *name,
                         size_t length, uint32_t *extents, size_t most) {
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        if (!length || strlen(rows[i].name) != length || memcmp(rows[i].name, name, length) != 0)
            continue;
        for (size_t n = 0; n < most; n++) {
            extents[n] = is_computable(rows[i].extents[n]) ? rows[i].extents[n] : 0;
            found |= extents[n] != 0;
        }
    }
    return found;
}

/* Takes from EXTENTS what is done to the heap. Returns whether anything is. */
static bool take_heap_extents(const uint32_t extents[3], struct callee *callee) {
    for (int i = 0; i < 3; i++) {
        enum quipu_extent kind = quipu_extent_kind(extents[i]);
        bool is_result = kind == QUIPU_EXTENT_BLOCK && !quipu_extent_constant(extents[i]);
        if (is_result || kind == QUIPU_EXTENT_BLOCK_STRING)
            callee->block = extents[i];
        if (kind == QUIPU_EXTENT_FREED || kind == QUIPU_EXTENT_MOVED)
            callee->freed = extents[i];
        if (kind == QUIPU_EXTENT_MORE && quipu_extent_constant(extents[i]) == QUIPU_MORE_PAGES)
            callee->pages = extents[i];
    }
    return callee->block || callee->freed;
}

static bool find_heap_extents(const char *name, size_t length, struct callee *callee) {
    for (size_t i = 0; i < sizeof writes_rows / sizeof *writes_rows; i++)
        if (strlen(writes_rows[i].name) == length && memcmp(writes_rows[i].name, name, length) == 0)
            return take_heap_extents(writes_rows[i].extents, callee);
    return false;
}

uint32_t find_measures(const char *name, size_t length) {
    for (uint32_t i = 0; i < sizeof measures_rows / sizeof *measures_rows; i++)
        if (strlen(measures_rows[i].name) == length &&
            memcmp(measures_rows[i].name, name, length) == 0)
            return i;
    return NO_MEASURES;
}

uint32_t find_caller_of_kernel(const char *name, size_t length) {
    static const struct {
        const char *name;
        uint32_t row;
    } callers[] = {{"syscall", QUIPU_TRACE_SYSCALL}, {"__syscall_cp_asm", QUIPU_TRACE_SYSCALL_CP}};
    for (size_t i = 0; i < sizeof callers / sizeof *callers; i++)
        if (strlen(callers[i].name) == length && memcmp(callers[i].name, name, length) == 0)
            return callers[i].row;
    return NO_MEASURES;
}

/* Adds to CALLEE what of its accesses sites look for. */
static void take_measures(const char *name, size_t length, struct callee *callee) {
    uint32_t row = find_measures(name, length);
    callee->measures_need_result = find_caller_of_kernel(name, length) != NO_MEASURES;
    for (int i = 0; row != NO_MEASURES && i < QUIPU_MEASURES_MOST; i++) {
        uint32_t measure = measures_rows[row].extents[i];
        callee->measures_need_result |= quipu_measure_needs_result(measure);
        if (quipu_measure_kind(measure) == QUIPU_MEASURE_PRINTED)
            memset(callee->writes, 0, sizeof callee->writes);
    }
}

bool find_known_callee(const char *name, size_t length, struct callee *callee) {
    *callee = (struct callee){0};
    bool writes = copy_extents(writes_rows, sizeof writes_rows / sizeof *writes_rows, name, length,
                               callee->writes, 3);
    bool reads = copy_extents(reads_rows, sizeof reads_rows / sizeof *reads_rows, name, length,
                              callee->reads, 2);
    bool heap = find_heap_extents(name, length, callee);
    take_measures(name, length, callee);
    return writes || reads || heap || callee->measures_need_result;
}

static bool needs_result(uint32_t extent) {
    return quipu_extent_kind(extent) == QUIPU_EXTENT_RESULT || extent & QUIPU_EXTENT_ZERO;
}

static uint16_t argument_bit(uint32_t argument) {
    return (uint16_t)(1u << argument_registers[argument % 6]);
}

static uint16_t registers_of(uint32_t extent) {
    enum quipu_extent kind = quipu_extent_kind(extent);
    uint16_t registers = extent ? argument_bit(extent & 7) : 0;
    if (kind == QUIPU_EXTENT_BYTES || kind == QUIPU_EXTENT_PRODUCT || kind == QUIPU_EXTENT_TIMES)
        registers |= argument_bit(quipu_extent_a(extent));
    if (kind == QUIPU_EXTENT_PRODUCT)
        registers |= argument_bit(quipu_extent_b(extent));
    return registers;
}

/* Whether the block's size is the product of two arguments. */
static bool is_product(uint32_t block) {
    return (block >> 12 & 15) != 15;
}

/* Returns the registers with the arguments that the heap's change depends on. */
static uint16_t heap_registers(const struct callee *callee) {
    uint16_t registers = 0;
    if (quipu_extent_kind(callee->block) == QUIPU_EXTENT_BLOCK) {
        registers |= argument_bit(quipu_extent_a(callee->block));
        if (is_product(callee->block))
            registers |= argument_bit(quipu_extent_b(callee->block));
    }
    if (callee->freed)
        registers |= argument_bit(callee->freed & 7);
    if (callee->freed && callee->pages)
        registers |= argument_bit(quipu_extent_a(callee->pages));
    return registers;
}

uint16_t callee_arguments(const struct callee *callee) {
    uint16_t registers = heap_registers(callee);
    for (int i = 0; i < 3; i++)
        registers |= registers_of(callee->writes[i]);
    for (int i = 0; i < 2; i++)
        registers |= registers_of(callee->reads[i]);
    return registers;
}

bool callee_needs_result(const struct callee *callee) {
    bool needs = callee->block != 0 || callee->measures_need_result;
    for (int i = 0; i < 3; i++)
        needs |= needs_result(callee->writes[i]);
    for (int i = 0; i < 2; i++)
        needs |= needs_result(callee->reads[i]);
    return needs;
}

static uint64_t argument(const struct call_values *values, uint32_t number) {
    return values->arguments[argument_registers[number % 6]];
}

/* Returns the bytes of the range, by the call's VALUES. */
static uint64_t extent_size(uint32_t extent, const struct call_values *values) {
    uint64_t a = argument(values, quipu_extent_a(extent)), c = quipu_extent_constant(extent);
    int64_t result =
        quipu_extent_is_int(extent) ? (int32_t)values->result : (int64_t)values->result;
    switch (quipu_extent_kind(extent)) {
    case QUIPU_EXTENT_CONSTANT:
        return c;
    case QUIPU_EXTENT_BYTES:
        return a;
    case QUIPU_EXTENT_PRODUCT:
        return a * argument(values, quipu_extent_b(extent));
    case QUIPU_EXTENT_TIMES:
        return a * c;
    default: /* QUIPU_EXTENT_RESULT */
        return result < 0 ? 0 : c * (uint64_t)result + quipu_extent_added(extent);
    }
}

static unsigned add_access(uint32_t extent, bool writes, const struct call_values *values,
                           struct callee_access *access) {
    if (!extent || registers_of(extent) & ~values->known)
        return 0;
    if (needs_result(extent) && !values->has_result)
        return 0;
    if (extent & QUIPU_EXTENT_ZERO && (uint32_t)values->result != 0)
        return 0;
    access->address = argument(values, extent & 7);
    access->size = extent_size(extent, values);
    access->writes = writes;
    access->sure = !(extent & (QUIPU_EXTENT_CHANGED | QUIPU_EXTENT_WITHIN));
    return access->address && access->size && access->address + access->size > access->address;
}

unsigned callee_accesses(const struct callee *callee, const struct call_values *values,
                         struct callee_access found[CALLEE_ACCESSES_MAX]) {
    unsigned count = 0;
    for (int i = 0; i < 2; i++)
        count += add_access(callee->reads[i], false, values, &found[count]);
    for (int i = 0; i < 3; i++)
        count += add_access(callee->writes[i], true, values, &found[count]);
    return count;
}

/* ---- the heap ---- */

static bool is_known(const struct call_values *values, uint32_t number) {
    return values->known & argument_bit(number);
}

/* Sets the allocated block. Returns false if the call has failed. */
static bool set_block(const struct callee *callee, const struct call_values *values,
                      struct heap_change *change) {
    enum {
        ERRORS = 4095 /* mappings that fail return (void *)-1 */
    };
    uint32_t block = callee->block, a = quipu_extent_a(block), b = quipu_extent_b(block);
    if (!block || !values->has_result)
        return true;
    uint64_t size = HEAP_STRING_BYTES, result = values->result;
    if (quipu_extent_kind(block) == QUIPU_EXTENT_BLOCK) {
        if (!is_known(values, a) || (is_product(block) && !is_known(values, b)))
            return true;
        size = argument(values, a);
        if (is_product(block) && __builtin_mul_overflow(size, argument(values, b), &size))
            return false;
    } else {
        change->partly = true;
    }
    if (!result || result > UINT64_MAX - ERRORS)
        return size == 0; /* realloc(block, 0) */
    if (!size || result + size < result)
        return true;
    change->block = result;
    change->size = size;
    return true;
}

bool callee_heap_change(const struct callee *callee, const struct call_values *values,
                        struct heap_change *change) {
    *change = (struct heap_change){.maps = callee->pages != 0};
    if (!set_block(callee, values, change))
        return false;
    if (callee->freed && is_known(values, callee->freed & 7)) {
        change->freed = argument(values, callee->freed & 7);
        uint32_t size = quipu_extent_a(callee->pages);
        if (callee->pages && is_known(values, size))
            change->freed_size = argument(values, size);
    }
    return change->freed || change->block;
}
