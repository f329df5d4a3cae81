/* measure_kernel.c: what a system call will read and write, by the table of system calls
 * (format/system_calls.h) and what its arguments lead to.
 *
 * It is compiled as measure.c is, without %rbp.
 *
 * Not perfect: another thread may change the memory between this look and the kernel's. */
#include "runtime/trace/measure.h"

#include "format/system_calls.h"
#include "format/trace.h"

static const struct quipu_system_call rows[] = {QUIPU_SYSTEM_CALLS(QUIPU_SYSTEM_CALL_ROW)};

enum {
    ROWS = sizeof rows / sizeof *rows,
    ARGUMENTS = QUIPU_CALL_ARGUMENTS
};

/* Where the number and the arguments of a call are, in words from the base (registers.inc). Those
 * above it are on the program's stack. */
struct convention {
    int8_t number, arguments[ARGUMENTS];
};

static const struct convention instruction = {-2, {-6, -5, -4, -9, -7, -8}};
static const struct convention function = {-6, {-5, -4, -3, -7, -8, 2}};
static const struct convention cancelled = {-5, {-4, -3, -7, -8, 2, 3}};

static const struct convention *find_convention(uint32_t row) {
    return row == QUIPU_TRACE_SYSCALL      ? &function
           : row == QUIPU_TRACE_SYSCALL_CP ? &cancelled
                                           : &instruction;
}

/* Returns the size of the range of EXTENT: if only the result tells it, as a range with
 * QUIPU_MEASURED_RESULT has it. */
static uint64_t size_of(const struct finder *finder, uint32_t extent) {
    const uint64_t most = (1ull << QUIPU_MEASURED_COUNT) - 1;
    uint64_t a = argument(finder, quipu_extent_a(extent)), c = quipu_extent_constant(extent);
    uint32_t pointer = extent & 7;
    switch (quipu_extent_kind(extent)) {
    case QUIPU_EXTENT_CONSTANT:
        return c;
    case QUIPU_EXTENT_BYTES:
        return a < most ? a : most;
    case QUIPU_EXTENT_TIMES:
        return a < most / c ? a * c : most;
    case QUIPU_EXTENT_POINTED:
        return quipu_trace_may_read(a) ? *(const uint32_t *)a : 0;
    case QUIPU_EXTENT_RESULT:
        a = pointer + 1 < ARGUMENTS ? argument(finder, pointer + 1) : most;
        return c << QUIPU_MEASURED_COUNT | (a < most / c ? a * c : most);
    default:
        return 0;
    }
}

static void add_extent(struct finder *finder, uint32_t extent) {
    uint64_t address = argument(finder, extent & 7), size = size_of(finder, extent);
    uint64_t flags = extent & QUIPU_CALL_READS ? 0 : QUIPU_MEASURED_WRITES;
    if (extent & QUIPU_EXTENT_CHANGED)
        flags |= QUIPU_MEASURED_UNSURE;
    if (extent & QUIPU_EXTENT_ZERO)
        flags |= QUIPU_MEASURED_ZERO;
    if (quipu_extent_kind(extent) == QUIPU_EXTENT_RESULT)
        flags |= QUIPU_MEASURED_RESULT;
    if (address && size)
        quipu_trace_add_range(finder, (struct range){flags, address, size});
}

/* Adds the row's accesses that read, or those that write. */
static void add_extents(struct finder *finder, const struct quipu_system_call *row, bool reads) {
    for (int i = 0; i < QUIPU_CALL_ACCESSES && row->accesses[i]; i++)
        if (!(row->accesses[i] & QUIPU_CALL_READS) == !reads)
            add_extent(finder, row->accesses[i]);
}

void quipu_trace_measure_system_call(struct finder *finder, uint32_t row, bool jumps) {
    const struct convention *convention = find_convention(row);
    uint64_t number = finder->base[convention->number], arguments[ARGUMENTS];
    int8_t words[ARGUMENTS];
    for (int i = 0; i < ARGUMENTS; i++) {
        int8_t word = convention->arguments[i];
        words[i] = word > 0 && jumps ? (int8_t)(word + 1) : word; /* below is a return address */
        arguments[i] = finder->base[words[i]];
    }
    finder->words = words;
    quipu_trace_add_range(finder, (struct range){QUIPU_MEASURED_CALL, number, 1});
    size_t found = quipu_find_system_call(rows, ROWS, number, arguments);
    if (found == ROWS)
        return;
    add_extents(finder, &rows[found], true);
    for (int i = 0; i < QUIPU_MEASURES_MOST && rows[found].measures[i]; i++)
        quipu_trace_measure_one(finder, rows[found].measures[i], jumps);
    add_extents(finder, &rows[found], false);
}
