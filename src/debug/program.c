/* program.c: the program of a replayed process; see program.h.
 *
 * Not perfect: only the executable's ticks are known, not those of shared objects. */
#include "debug/program.h"

#include "symbols/event_tables.h"
#include "tracee/tracee.h"
#include "util/diag.h"
#include "x86/registers.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the program ---- */

/* The words behind the cells. */
struct tail {
    uint64_t begin, base, thread;
};

static bool read_tail(pid_t number, uint64_t block, struct tail *tail) {
    return read_memory(number, block + QUIPU_EVENT_BEGIN, tail, sizeof *tail);
}

/* A forked process begins with the cells of its maker, until the runtime's handler of fork clears
 * them. */
static void look_at_fork(struct timeline *timeline, struct played_program *program) {
    pid_t first = timeline->checkpoints[0]->stand.process;
    struct user_regs_struct registers;
    struct tail tail;
    program->is_forked =
        program->begin == 0 && strchr(player_name(timeline->player, &program->arena), '/');
    if (!program->is_forked || timeline->hooks.path.count < 2 || /* made before the recording */
        !get_general_registers(first, &registers))
        return;
    program->makers_block = program->cells + registers.gs_base;
    program->has_makers = read_tail(first, program->makers_block, &tail);
    program->makers_base = tail.base;
}

/* The file is that of the recording, if it has one: this machine's may be another by now. */
static const char *open_program(struct timeline *timeline, struct played_program *program) {
    const char *path = player_program(timeline->player);
    int file = player_file(timeline->player, path);
    if (file < 0)
        return binary_open(&program->arena, path, &program->binary);
    const char *copy = arena_print(&program->arena, "/proc/self/fd/%d", file);
    const char *wrong = binary_open(&program->arena, copy, &program->binary);
    if (!wrong)
        program->binary->path = arena_copy(&program->arena, path, strlen(path));
    close(file);
    return wrong;
}

static void read_program(struct timeline *timeline, struct played_program *program) {
    Elf64_Ehdr header;
    if (open_program(timeline, program)) {
        program->binary = NULL;
        return;
    }
    const struct binary *binary = program->binary;
    if (binary->size < sizeof header)
        return;
    memcpy(&header, binary->bytes, sizeof header);
    program->bias = program_bias(timeline_process(timeline), header.e_entry);
    size_t ranges = 0;
    const struct symbol *cells = binary_find_name(binary, "quipu_event_cells");
    (void)binary_section(binary, QUIPU_RANGES_SECTION, &ranges);
    if (!cells || !ranges || !binary_find_name(binary, "quipu_moment_near"))
        return;
    program->cells = cells->address + program->bias;
    program->most_above = most_ticks_above(binary);
    look_at_fork(timeline, program);
}

void forget_programs(struct timeline *timeline) {
    while (timeline->played) {
        struct played_program *program = timeline->played;
        timeline->played = program->next;
        if (program->binary)
            binary_close(program->binary);
        arena_release(&program->arena);
        free(program);
    }
}

/* Makes PROGRAM the first of the list. */
static struct played_program *put_first(struct timeline *timeline, struct played_program *program) {
    struct played_program **link = &timeline->played;
    while (*link && *link != program)
        link = &(*link)->next;
    if (*link)
        *link = program->next;
    program->next = timeline->played;
    return timeline->played = program;
}

struct played_program *program_of(struct timeline *timeline) {
    uint64_t begin = player_program_begin(timeline->player);
    bool is_there = timeline_process(timeline);
    for (struct played_program *at = timeline->played; at; at = at->next)
        if (!is_there || at->begin == begin)
            return at == timeline->played ? at : put_first(timeline, at);
    struct played_program *program = calloc(1, sizeof *program);
    CHECK(program);
    program->begin = begin;
    program->serial = ++timeline->programs;
    if (is_there)
        read_program(timeline, program);
    return put_first(timeline, program);
}

const char *program_variables(struct timeline *timeline, const struct variables **variables) {
    struct played_program *program = program_of(timeline);
    if (!program->binary)
        return "the program cannot be read";
    const char *wrong = NULL;
    if (!program->has_variables)
        wrong = read_variables(&program->arena, program->binary, &program->variables);
    program->has_variables = !wrong;
    *variables = &program->variables;
    return wrong;
}

/* ---- ticks ---- */

pid_t own_number(const struct timeline *timeline, pid_t wanted) {
    pid_t recorded, number;
    size_t at = 0;
    while (player_next_thread(timeline->player, &at, &recorded, &number))
        if (recorded == wanted)
            return number;
    return 0;
}

/* Whether the thread has no cells of its own yet. Until then it has its maker's. */
static bool is_new(const struct timeline *timeline, pid_t recorded, uint64_t block) {
    struct user_regs_struct registers;
    pid_t maker = player_maker(timeline->player, recorded);
    return maker && get_general_registers(maker, &registers) && registers.gs_base == block;
}

/* Whether the thread with TAIL has its maker's cells at BLOCK. */
static bool are_makers(const struct played_program *program, uint64_t block,
                       const struct tail *tail) {
    return program->has_makers && block == program->makers_block && tail->thread &&
           tail->base == program->makers_base;
}

/* Reads the cells at BLOCK. The first thread of a forked process has no number until it asks for
 * its moment. */
static bool read_cells(const struct played_program *program, pid_t number, uint64_t block,
                       struct thread_ticks *ticks) {
    uint64_t cells[QUIPU_MANY_LANES];
    struct tail tail;
    if (!read_tail(number, block, &tail) ||
        !read_memory(number, block + 8 * quipu_first_cell(QUIPU_EVENT_TICKS), cells,
                     sizeof cells) ||
        are_makers(program, block, &tail))
        return false;
    ticks->raw = tail.base;
    for (int lane = 0; lane < QUIPU_MANY_LANES; lane++)
        ticks->raw += cells[lane];
    ticks->ticks = ticks->exact = ticks->raw - tail.begin;
    ticks->number = tail.thread ? tail.thread : program->is_forked;
    return ticks->number;
}

bool read_ticks_of(struct timeline *timeline, pid_t number, uint64_t address,
                   struct thread_ticks *ticks) {
    struct user_regs_struct registers;
    int64_t sums[QUIPU_EVENTS] = {0};
    const struct played_program *program = program_of(timeline);
    *ticks = (struct thread_ticks){0};
    if (!number || !program->cells || !get_general_registers(number, &registers) ||
        !read_cells(program, number, program->cells + registers.gs_base, ticks))
        return false;
    ticks->position = address ? address : registers.rip;
    uint64_t linked = player_original_address(timeline->player, ticks->position) - program->bias;
    if (!binary_segment(program->binary, linked) || !has_events_at(program->binary, linked))
        return true;
    ticks->place = linked;
    add_events_above(program->binary, linked, 0, sums);
    ticks->exact += (uint64_t)sums[QUIPU_EVENT_TICKS];
    return true;
}

bool read_thread_ticks(struct timeline *timeline, pid_t recorded, uint64_t address,
                       struct thread_ticks *ticks) {
    struct user_regs_struct registers;
    pid_t number = own_number(timeline, recorded);
    *ticks = (struct thread_ticks){0};
    return number && get_general_registers(number, &registers) &&
           !is_new(timeline, recorded, registers.gs_base) &&
           read_ticks_of(timeline, number, address, ticks);
}
