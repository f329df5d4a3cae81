/* program.c: the program of a replayed process; see program.h.
 *
 * A shared object has ticks of its own. The loader's list tells which there are; their files are
 * read when they are first needed. */
#include "debug/program.h"

#include "format/cells.h"
#include "symbols/event_tables.h"
#include "symbols/loaded_objects.h"
#include "tracee/tracee.h"
#include "util/diag.h"
#include "x86/kernel.h"
#include "x86/registers.h"

#include <elf.h>
#include <gelf.h>
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
static const char *open_file(struct timeline *timeline, struct played_program *program,
                             const char *path) {
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

/* Whether the module has ticks. */
static bool find_cells(struct played_program *program) {
    const struct binary *binary = program->binary;
    size_t ranges = 0;
    const struct symbol *cells = binary_find_name(binary, "quipu_event_cells");
    (void)binary_section(binary, QUIPU_RANGES_SECTION, &ranges);
    if (!cells || !ranges || !binary_find_name(binary, "quipu_moment_near"))
        return false;
    program->cells = cells->address + program->bias;
    program->most_above = most_ticks_above(binary);
    return true;
}

static void read_program(struct timeline *timeline, struct played_program *program) {
    Elf64_Ehdr header;
    if (open_file(timeline, program, player_program(timeline->player))) {
        program->binary = NULL;
        return;
    }
    const struct binary *binary = program->binary;
    if (binary->size < sizeof header)
        return;
    memcpy(&header, binary->bytes, sizeof header);
    program->bias = program_bias(timeline_process(timeline), header.e_entry);
    if (find_cells(program))
        look_at_fork(timeline, program);
}

static void forget_list(struct played_program *first) {
    while (first) {
        struct played_program *program = first;
        first = program->next;
        for (struct played_program *at = program->objects, *next; at; at = next) {
            next = at->next;
            if (at->binary)
                binary_close(at->binary);
            arena_release(&at->arena);
            free(at);
        }
        if (program->binary)
            binary_close(program->binary);
        arena_release(&program->arena);
        free(program);
    }
}

void forget_programs(struct timeline *timeline) {
    forget_list(timeline->played);
    timeline->played = NULL;
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

/* ---- shared objects ---- */

/* A section of rows. */
struct rows {
    Elf_Scn *section; /* NULL: none yet */
    GElf_Shdr header;
    Elf_Data *data;
    size_t count;
};

/* Sets ROWS to the next section of BINARY that has that TYPE. Returns false if there is none. */
static bool next_rows(const struct binary *binary, GElf_Word type, struct rows *rows) {
    while ((rows->section = elf_nextscn(binary->elf, rows->section))) {
        if (!gelf_getshdr(rows->section, &rows->header) || rows->header.sh_type != type)
            continue;
        rows->data = elf_getdata(rows->section, NULL);
        rows->count = rows->data && rows->header.sh_entsize
                          ? rows->data->d_size / rows->header.sh_entsize
                          : 0;
        return true;
    }
    return false;
}

/* Sets PLACE to that of the thread-local word NAME among those of BINARY. */
static bool find_word(const struct binary *binary, const char *name, uint64_t *place) {
    struct rows rows = {0};
    while (next_rows(binary, SHT_SYMTAB, &rows)) {
        for (size_t i = 0; i < rows.count; i++) {
            GElf_Sym symbol;
            const char *text = NULL;
            if (gelf_getsym(rows.data, (int)i, &symbol) && GELF_ST_TYPE(symbol.st_info) == STT_TLS)
                text = elf_strptr(binary->elf, rows.header.sh_link, symbol.st_name);
            if (!text || strcmp(text, name) != 0)
                continue;
            *place = symbol.st_value;
            return true;
        }
    }
    return false;
}

/* Returns the slot, as linked, in which the loader puts where the word NAME of threads is, or 0. */
static uint64_t find_word_slot(const struct binary *binary, const char *name) {
    uint64_t place = 0;
    struct rows rows = {0};
    bool has_word = find_word(binary, name, &place);
    while (has_word && next_rows(binary, SHT_RELA, &rows)) {
        for (size_t i = 0; i < rows.count; i++) {
            GElf_Rela row;
            if (gelf_getrela(rows.data, (int)i, &row) &&
                GELF_R_TYPE(row.r_info) == R_X86_64_TPOFF64 && GELF_R_SYM(row.r_info) == 0 &&
                (uint64_t)row.r_addend == place)
                return row.r_offset;
        }
    }
    return 0;
}

static struct played_program *read_object(struct timeline *timeline, const char *path,
                                          uint64_t bias) {
    struct played_program *object = calloc(1, sizeof *object);
    CHECK(object);
    object->path = arena_copy(&object->arena, path, strlen(path));
    object->bias = bias;
    object->serial = ++timeline->programs;
    if (open_file(timeline, object, path)) {
        object->binary = NULL;
        return object;
    }
    object->word_slot = find_word_slot(object->binary, "quipu_bias");
    if (object->word_slot)
        object->word_slot += bias;
    if (!object->word_slot || !find_cells(object))
        object->cells = 0;
    return object;
}

/* A look for one of the objects that are loaded. */
struct object_search {
    struct timeline *timeline;
    struct played_program *program, *found;
    bool (*wanted)(void *context, const struct played_program *object);
    void *context;
};

static bool take_object(void *context, const char *path, uint64_t bias) {
    struct object_search *search = context;
    struct played_program *at = search->program->objects;
    while (at && (at->bias != bias || strcmp(at->path, path) != 0))
        at = at->next;
    if (!at) {
        at = read_object(search->timeline, path, bias);
        at->next = search->program->objects;
        search->program->objects = at;
    }
    if (at->cells && search->wanted(search->context, at))
        search->found = at;
    return !search->found;
}

struct played_program *find_loaded_object(struct timeline *timeline, pid_t number,
                                          bool (*wanted)(void *context,
                                                         const struct played_program *object),
                                          void *context) {
    struct object_search search = {.timeline = timeline,
                                   .program = program_of(timeline),
                                   .wanted = wanted,
                                   .context = context};
    list_loaded_objects(number, take_object, &search);
    return search.found;
}

static bool has_address(void *context, const struct played_program *object) {
    const uint64_t *address = context;
    return binary_segment(object->binary, *address - object->bias);
}

struct played_program *module_at(struct timeline *timeline, pid_t number, uint64_t address) {
    struct played_program *program = program_of(timeline);
    bool in_program = program->binary && binary_segment(program->binary, address - program->bias);
    struct played_program *object =
        in_program ? NULL : find_loaded_object(timeline, number, has_address, &address);
    return object ? object : program;
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

/* Sets BLOCK to the address of the thread's cells in MODULE. */
static bool find_block(const struct played_program *module, pid_t number,
                       const struct user_regs_struct *registers, uint64_t *block) {
    uint64_t place = 0, distance = registers->gs_base;
    if (module->word_slot &&
        (!read_memory(number, module->word_slot, &place, sizeof place) ||
         (int64_t)place >= 0 || /* the loader has not set it yet */
         !read_memory(number, registers->fs_base + place, &distance, sizeof distance) ||
         distance == QUIPU_UNATTACHED))
        return false;
    *block = module->cells + distance;
    return module->cells;
}

static bool read_ticks_in(struct timeline *timeline, const struct played_program *module,
                          pid_t number, uint64_t address, struct thread_ticks *ticks) {
    struct user_regs_struct registers;
    int64_t sums[QUIPU_EVENTS] = {0};
    uint64_t block;
    *ticks = (struct thread_ticks){.module = module};
    if (!number || !get_general_registers(number, &registers) ||
        !find_block(module, number, &registers, &block) ||
        !read_cells(module, number, block, ticks))
        return false;
    ticks->position = address ? address : registers.rip;
    uint64_t linked = player_original_address(timeline->player, ticks->position) - module->bias;
    if (!binary_segment(module->binary, linked) || !has_events_at(module->binary, linked))
        return true;
    ticks->place = linked;
    add_events_above(module->binary, linked, 0, sums);
    ticks->exact += (uint64_t)sums[QUIPU_EVENT_TICKS];
    return true;
}

bool read_ticks_of(struct timeline *timeline, pid_t number, uint64_t address,
                   struct thread_ticks *ticks) {
    return read_ticks_in(timeline, program_of(timeline), number, address, ticks);
}

bool read_module_ticks(struct timeline *timeline, const struct played_program *module,
                       pid_t recorded, uint64_t address, struct thread_ticks *ticks) {
    struct user_regs_struct registers;
    pid_t number = own_number(timeline, recorded);
    *ticks = (struct thread_ticks){.module = module};
    return number && get_general_registers(number, &registers) &&
           (module->word_slot || !is_new(timeline, recorded, registers.gs_base)) &&
           read_ticks_in(timeline, module, number, address, ticks);
}

bool read_thread_ticks(struct timeline *timeline, pid_t recorded, uint64_t address,
                       struct thread_ticks *ticks) {
    pid_t number = own_number(timeline, recorded);
    uint64_t at = address || !number ? address : next_instruction(number);
    const struct played_program *module = module_at(timeline, number, at);
    return read_module_ticks(timeline, module, recorded, address, ticks);
}
