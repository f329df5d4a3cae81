/* tick_stop.c: stops a thread at an exact tick; see tick_stop.h.
 *
 * An executable has its additions without tests. Each has code out of line that adds, tests, and
 * calls the runtime where a cell is no longer negative (format/moment.h). quipu writes jumps to
 * that code over the additions, and a breakpoint over the first instruction in front of the call:
 *
 *   place: the prefix, jmp code, no-operations
 *   back:
 *   code:  addq $N, %gs:cell(%rip); js back; int3
 *
 * So the thread stops with the addition done, and goes on at `back`. The call would write below the
 * stack pointer; a breakpoint writes nothing.
 *
 * Invariants
 *   - cells + base, modulo 1 << 64, is the count of the thread, on its way or not.
 *   - A thread that is not on its way has cells that are so far below zero that none ends. Those of
 *     a forked child are zero, so it stops at its first addition, and then has such cells.
 *   - A thread that leaves its way has the cells that it would have without. Behind a stop all
 * cells have the same value. So how the count is divided does not depend on where stops were tried.
 *
 * Not perfect: the kernel resets the action of SIGTRAP in a program that catches that signal and
 * blocks it. A program that reads its own code sees the jumps. */
#include "tracee/tick_stop.h"

#include "format/moment.h"
#include "tracee/tracee.h"
#include "x86/addition.h"
#include "x86/kernel.h"
#include "x86/registers.h"
#include "x86/trap.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    LANES = QUIPU_MANY_LANES
};

/* As far below zero as the runtime sets cells without a countdown. */
static const uint64_t far_away = (uint64_t)1 << 59;

/* ---- the program ---- */

static int compare_tests(const void *one, const void *other) {
    uint64_t first = ((const struct test *)one)->code, second = ((const struct test *)other)->code;
    return (first > second) - (first < second);
}

/* Returns false if a test is not for an addition. */
static bool find_most(struct tick_code *code) {
    for (size_t i = 0; i < code->tests.count; i++) {
        const struct test *test = &code->tests.data[i];
        size_t room;
        const uint8_t *bytes = binary_code(code->binary, test->place, &room);
        int64_t added = added_to_cell(bytes, test->back - test->place);
        if (added <= 0)
            return false;
        code->most = (uint64_t)added > code->most ? (uint64_t)added : code->most;
    }
    return true;
}

/* Returns whether PROCESS has additions, and all that is needed to stop there. */
static bool read_program(struct tick_code *code, pid_t process) {
    const char *path = arena_print(&code->arena, "/proc/%d/exe", (int)process);
    char target[PATH_MAX];
    ssize_t size = readlink(path, target, sizeof target - 1);
    Elf64_Ehdr header;
    size_t waits;
    target[size > 0 ? size : 0] = '\0';
    if (size <= 0 || binary_open(&code->arena, target, &code->binary))
        return false;
    const struct binary *binary = code->binary;
    bool asks = binary_section(binary, QUIPU_WAITS_SECTION, &waits) && waits;
    if (asks || binary->size < sizeof header || read_tests(&code->arena, binary, &code->tests) ||
        !code->tests.count || !find_most(code))
        return false;
    memcpy(&header, binary->bytes, sizeof header);
    const struct symbol *cells = binary_find_name(binary, "quipu_event_cells");
    if (!cells)
        return false;
    code->bias = auxiliary_value(process, AT_ENTRY) - header.e_entry;
    code->cells = cells->address + code->bias;
    qsort(code->tests.data, code->tests.count, sizeof *code->tests.data, compare_tests);
    return true;
}

struct tick_code *tick_code_open(pid_t process) {
    struct tick_code *code = calloc(1, sizeof *code);
    if (code && !read_program(code, process)) {
        tick_code_close(code);
        return NULL;
    }
    return code;
}

void tick_code_close(struct tick_code *code) {
    if (code->binary)
        binary_close(code->binary);
    arena_release(&code->arena);
    free(code);
}

/* Returns the address of the instruction behind the jump of TEST's code out of line. */
static uint64_t ended(const struct test *test) {
    return test->code + (test->back - test->place) + QUIPU_TEST_BRANCH;
}

/* Writes the breakpoints, or what is there without them. */
static bool change_ends(const struct tick_code *code, pid_t process, bool stops) {
    uint64_t first = ended(&code->tests.data[0]);
    size_t size = ended(&code->tests.data[code->tests.count - 1]) + 1 - first, room;
    uint8_t *text = malloc(size);
    bool good = text && read_memory(process, first + code->bias, text, size);
    for (size_t i = 0; i < code->tests.count && good; i++) {
        uint64_t at = ended(&code->tests.data[i]);
        const uint8_t *own = binary_code(code->binary, at, &room);
        good = own != NULL;
        if (good)
            text[at - first] = stops ? BREAKPOINT_BYTE : *own;
    }
    good = good && write_memory(process, first + code->bias, text, size);
    free(text);
    return good;
}

bool tick_code_arm(const struct tick_code *code, pid_t process) {
    return change_ends(code, process, true) && !put_tests(process, code->binary, code->bias);
}

void tick_code_disarm(const struct tick_code *code, pid_t process) {
    take_tests_out(process, code->binary, code->bias);
    change_ends(code, process, false);
}

/* Returns the test whose breakpoint is at ADDRESS, or NULL. */
static const struct test *find_test(const struct tick_code *code, uint64_t address) {
    size_t low = 0, high = code->tests.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        uint64_t at = ended(&code->tests.data[middle]) + code->bias;
        if (at == address)
            return &code->tests.data[middle];
        if (at < address)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- cells ---- */

struct counters {
    uint64_t cells[LANES], base;
};

static bool move_counters(pid_t thread, uint64_t block, struct counters *counters, bool writing) {
    struct iovec here[] = {{counters->cells, sizeof counters->cells},
                           {&counters->base, sizeof counters->base}};
    struct iovec there[] = {
        {(void *)(block + 8 * quipu_first_cell(QUIPU_EVENT_TICKS)), sizeof counters->cells},
        {(void *)(block + QUIPU_EVENT_BASE), sizeof counters->base}};
    ssize_t moved = writing ? process_vm_writev(thread, here, 2, there, 2, 0)
                            : process_vm_readv(thread, here, 2, there, 2, 0);
    return moved == (ssize_t)sizeof *counters;
}

static uint64_t count_in(const struct counters *counters) {
    uint64_t count = counters->base;
    for (int lane = 0; lane < LANES; lane++)
        count += counters->cells[lane];
    return count;
}

static void set_cell(struct counters *counters, int lane, uint64_t value) {
    counters->base += counters->cells[lane] - value;
    counters->cells[lane] = value;
}

/* The address of the thread's cells: the base of %gs is how far they are from those linked. */
static uint64_t block_of(const struct tick_code *code, const struct user_regs_struct *registers) {
    return code->cells + registers->gs_base;
}

/* Divides DISTANCE in proportion to recent ticks. A cell that had few so far may get more now, so
 * each gets something: together a quarter. */
static void divide(const struct tick_code *code, struct tick_stop *stop, uint64_t distance) {
    uint64_t whole = 0;
    for (int lane = 0; lane < LANES; lane++)
        whole += code->recent[lane];
    uint64_t least = 1 + whole / (4 * LANES);
    for (int lane = 0; lane < LANES; lane++) {
        unsigned __int128 part = (unsigned __int128)distance * (code->recent[lane] + least);
        uint64_t share = 1 + (uint64_t)(part / (whole + LANES * least));
        stop->shares[lane] = share < far_away ? share : far_away;
    }
}

/* A cell with a share of 1 ends with its first addition. Until the first one ends, all others have
 * less than their shares, and the last addition may be one of the greatest. */
bool tick_stop_begin(const struct tick_code *code, struct tick_stop *stop, pid_t thread,
                     uint64_t distance) {
    struct user_regs_struct registers;
    struct counters counters;
    if (!get_general_registers(thread, &registers) ||
        !move_counters(thread, block_of(code, &registers), &counters, false) ||
        ptrace(PTRACE_GETSIGMASK, thread, sizeof stop->mask, &stop->mask) != 0)
        return false;
    divide(code, stop, distance > code->most ? distance - code->most : 0);
    for (int lane = 0; lane < LANES; lane++) {
        stop->former[lane] = counters.cells[lane];
        set_cell(&counters, lane, -stop->shares[lane]);
    }
    if (!move_counters(thread, block_of(code, &registers), &counters, true))
        return false;
    stop->block = block_of(code, &registers);
    return true;
}

bool tick_count(const struct tick_code *code, pid_t thread, uint64_t *count) {
    struct user_regs_struct registers;
    struct counters counters;
    if (!get_general_registers(thread, &registers) ||
        !move_counters(thread, block_of(code, &registers), &counters, false))
        return false;
    *count = count_in(&counters);
    return true;
}

bool tick_is_at(const struct tick_code *code, pid_t thread, const struct tick_place *place) {
    struct user_regs_struct registers;
    uint64_t count;
    return get_general_registers(thread, &registers) && registers.rip == place->address &&
           tick_count(code, thread, &count) && count == place->count;
}

/* Earlier ticks count for less and less, so that the shares follow the program. */
static void remember(struct tick_code *code, const struct tick_stop *stop,
                     const struct counters *counters) {
    for (int lane = 0; lane < LANES; lane++)
        code->recent[lane] = code->recent[lane] / 2 + counters->cells[lane] + stop->shares[lane];
}

/* The cells are as they would be if the thread had not been on its way. */
static void restore_cells(const struct tick_stop *stop, struct counters *counters) {
    for (int lane = 0; lane < LANES; lane++)
        set_cell(counters, lane, stop->former[lane] + counters->cells[lane] + stop->shares[lane]);
}

static void set_far(struct counters *counters) {
    for (int lane = 0; lane < LANES; lane++)
        set_cell(counters, lane, -far_away);
}

void tick_settle(const struct tick_code *code, pid_t thread) {
    struct user_regs_struct registers;
    struct counters counters;
    if (!get_general_registers(thread, &registers) ||
        !move_counters(thread, block_of(code, &registers), &counters, false))
        return;
    set_far(&counters);
    move_counters(thread, block_of(code, &registers), &counters, true);
}

/* The flags behind an addition to a cell that is far below zero. Nothing uses them. */
static void set_flags(struct user_regs_struct *registers, const struct test *test,
                      const struct binary *binary) {
    size_t room;
    const uint8_t *addition = binary_code(binary, test->place, &room);
    uint64_t kept = keeps_carry(addition) ? CARRY_FLAG : 0;
    registers->eflags &= ~(uint64_t)STATUS_FLAGS | kept;
    registers->eflags |= SIGN_FLAG;
}

/* A thread that stands between an addition that has ended its cell and the jump behind it takes the
 * jump, as it would have. */
static void mend_flags(const struct tick_code *code, pid_t thread) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread, &registers))
        return;
    const struct test *test = find_test(code, registers.rip + QUIPU_TEST_BRANCH);
    if (!test)
        return;
    set_flags(&registers, test, code->binary);
    set_general_registers(thread, &registers);
}

void tick_stop_end(const struct tick_code *code, struct tick_stop *stop, pid_t thread) {
    struct counters counters;
    if (stop->block && move_counters(thread, stop->block, &counters, false)) {
        restore_cells(stop, &counters);
        move_counters(thread, stop->block, &counters, true);
        mend_flags(code, thread);
    }
    stop->block = 0;
}

uint64_t tick_original_address(const struct tick_code *code, uint64_t address) {
    const struct test *test = find_test(code, address + QUIPU_TEST_BRANCH);
    if (test)
        return test->back + code->bias;
    for (uint64_t size = QUIPU_TEST_LEAST; size <= QUIPU_TEST_MOST; size++) {
        test = find_test(code, address + size + QUIPU_TEST_BRANCH);
        if (test && test->code + code->bias == address)
            return test->place + code->bias;
    }
    return address;
}

bool tick_is_before(const struct tick_code *code, pid_t thread, const struct tick_place *place) {
    uint64_t count;
    const struct test *test = find_test(code, next_instruction(thread) + QUIPU_TEST_BRANCH);
    return test && test->back + code->bias == place->address && tick_count(code, thread, &count) &&
           count == place->count;
}

bool tick_stop_reached(struct tick_code *code, struct tick_stop *stop, pid_t thread,
                       struct tick_place *place) {
    struct user_regs_struct registers;
    if (!get_general_registers(thread, &registers))
        return false;
    const struct test *test = find_test(code, registers.rip - 1);
    uint64_t block = block_of(code, &registers);
    struct counters counters = {0};
    if (!test)
        return false;
    registers.rip = place->address = test->back + code->bias;
    place->last = ended(test) - QUIPU_TEST_BRANCH + code->bias;
    set_flags(&registers, test, code->binary);
    move_counters(thread, block, &counters, false);
    place->count = count_in(&counters);
    if (stop->block != block) {
        set_far(&counters);
    } else {
        remember(code, stop, &counters);
        restore_cells(stop, &counters);
        /* the kernel does not block a signal that an instruction causes */
        ptrace(PTRACE_SETSIGMASK, thread, sizeof stop->mask, &stop->mask);
    }
    stop->block = 0;
    return move_counters(thread, block, &counters, true) &&
           set_general_registers(thread, &registers);
}
