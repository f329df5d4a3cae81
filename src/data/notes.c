/* notes.c: the notes that the shim has put into a binary; see notes.h and format/notes.h.
 *
 * No number of a note is trusted. A count is compared with the remaining bytes before memory is
 * allocated for it, an index with the number of elements, and an address with the code in the
 * binary. All blocks together must not have more code than the binary, so small notes cannot expand
 * to large data. */
#include "data/notes.h"

#include "data/flow.h"
#include "data/instructions.h"
#include "data/solve.h"
#include "format/event.h"
#include "format/notes.h"
#include "symbols/binary.h"
#include "util/cursor.h"
#include "util/diag.h"

#include <stdlib.h>
#include <string.h>

/* The state while the records of a binary are read. */
struct notes {
    struct arena *arena;  /* the profile's */
    struct arena scratch; /* for instructions while their number is unknown */
    instruction_vector instructions;
    VECTOR(struct noted_block) blocks; /* of the current function, with copies */
    struct module *module;
    const struct binary *binary;
    struct solver solver;
    uint64_t *zeros; /* enough cells for each function so far */
    size_t zero_count;
    uint64_t code_budget;    /* bytes of code that the next blocks may have */
    size_t unfit_count;      /* functions whose notes do not fit their code */
    struct left_alone unfit; /* the first of them */
};

/* The smallest size of each in a record. */
enum {
    FRAGMENT_BYTES = 8,
    BLOCK_BYTES = 3, /* of a copy */
    EDGE_BYTES = 4,
    FRAGMENTS_MAX = 255, /* instruction.fragment is a byte */
};

/* ---- one function ---- */

static void read_fragments(struct notes *notes, struct cursor *cursor, struct function *function) {
    uint64_t limit = cursor_left(cursor) / FRAGMENT_BYTES;
    function->fragment_count =
        (uint32_t)cursor_uleb128_to(cursor, limit < FRAGMENTS_MAX ? limit : FRAGMENTS_MAX);
    function->fragments = ARENA_ARRAY(notes->arena, uint64_t, function->fragment_count);
    for (size_t i = 0; i < function->fragment_count; i++)
        function->fragments[i] = cursor_number(cursor, 8);
}

/* Returns how many cells FUNCTION may have at most: those up to the end of the module's. */
static uint64_t cell_limit(const struct function *function) {
    return function->module->cell_count - function->first_cell;
}

static bool read_code_block(struct notes *notes, struct cursor *cursor, struct block *block,
                            struct instruction first, uint64_t fragment, uint32_t size) {
    first.address = fragment + cursor_number(cursor, 4);
    size_t count;
    const uint8_t *code = binary_code(notes->binary, first.address, &count);
    if (cursor->failed || !code || size > notes->code_budget)
        return false;
    notes->code_budget -= size;
    return instructions_read(&notes->scratch, &notes->instructions, block, first, code, count,
                             size);
}

static bool read_padding_block(struct notes *notes, struct cursor *cursor, struct block *block,
                               struct instruction first, uint32_t size) {
    block->padding = true;
    block->bytes = cursor_bytes(cursor, size);
    uint64_t line = cursor_uleb128_to(cursor, UINT32_MAX);
    block->line = (uint32_t)(line / 2);
    block->line_behind = line & 1;
    return block->bytes && instructions_read(&notes->scratch, &notes->instructions, block, first,
                                             block->bytes, size, size);
}

/* Copies follow all blocks. */
static bool read_copy(struct notes *notes, struct cursor *cursor, struct function *function) {
    struct noted_block copy;
    copy.block = (uint32_t)cursor_uleb128_to(cursor, function->block_count);
    copy.cell = (uint32_t)cursor_uleb128_to(cursor, cell_limit(function));
    if (cursor->failed || copy.block >= function->block_count)
        return false;
    vector_push(&notes->scratch, &notes->blocks, copy);
    return true;
}

static bool read_block(struct notes *notes, struct cursor *cursor, struct function *function) {
    uint64_t flags = cursor_number(cursor, 1);
    if (flags == QUIPU_BLOCK_COPY)
        return read_copy(notes, cursor, function);
    uint32_t number = (uint32_t)function->block_count;
    struct block *block = &function->blocks[number];
    uint64_t fragment = cursor_uleb128_to(cursor, function->fragment_count);
    uint64_t offset = cursor_uleb128_to(cursor, INT32_MAX);
    uint64_t size = cursor_uleb128_to(cursor, INT32_MAX);
    uint32_t cell = (uint32_t)cursor_uleb128_to(cursor, cell_limit(function));
    if (cursor->failed || fragment >= function->fragment_count ||
        flags & ~(uint64_t)(QUIPU_BLOCK_PADDING | QUIPU_BLOCK_TURNED) ||
        notes->blocks.count != function->block_count)
        return false;
    vector_push(&notes->scratch, &notes->blocks, ((struct noted_block){number, cell}));
    function->block_count++;
    block->turned = flags & QUIPU_BLOCK_TURNED;
    struct instruction first = {
        .offset = (uint32_t)offset, .fragment = (uint8_t)fragment, .block = number};
    if (flags & QUIPU_BLOCK_PADDING)
        return read_padding_block(notes, cursor, block, first, (uint32_t)size);
    return read_code_block(notes, cursor, block, first, function->fragments[fragment],
                           (uint32_t)size);
}

static bool read_blocks(struct notes *notes, struct cursor *cursor, struct function *function) {
    arena_release(&notes->scratch);
    notes->instructions.data = NULL;
    notes->instructions.count = notes->instructions.capacity = 0;
    notes->blocks.data = NULL;
    notes->blocks.count = notes->blocks.capacity = 0;
    size_t count = cursor_uleb128_to(cursor, cursor_left(cursor) / BLOCK_BYTES);
    function->blocks = ARENA_ARRAY(notes->arena, struct block, count);
    for (size_t i = 0; i < count; i++)
        if (!read_block(notes, cursor, function))
            return false;
    function->instruction_count = notes->instructions.count;
    function->instructions =
        arena_grow(notes->arena, notes->instructions.data, notes->instructions.count,
                   notes->instructions.count, sizeof *function->instructions);
    return !cursor->failed;
}

static bool read_edges(struct notes *notes, struct cursor *cursor, struct function *function) {
    function->hub_count = (uint32_t)cursor_uleb128_to(cursor, cursor_left(cursor));
    size_t count = cursor_uleb128_to(cursor, cursor_left(cursor) / EDGE_BYTES);
    uint64_t last_end = notes->blocks.count + function->hub_count;
    struct noted_edge *edges = ARENA_ARRAY(&notes->scratch, struct noted_edge, count);
    for (size_t i = 0; i < count; i++) {
        edges[i].source = (uint32_t)cursor_uleb128_to(cursor, last_end);
        edges[i].target = (uint32_t)cursor_uleb128_to(cursor, last_end);
        uint64_t kind = cursor_number(cursor, 1);
        edges[i].kind = (enum quipu_edge_kind)kind;
        edges[i].cell = (uint32_t)cursor_uleb128_to(cursor, cell_limit(function));
        if (cursor->failed || kind < QUIPU_EDGE_ENTRY || kind > QUIPU_EDGE_STOP)
            return false;
    }
    if (cursor->failed)
        return false;
    build_flow(notes->arena, &notes->scratch, function, notes->blocks.data, notes->blocks.count,
               edges, count);
    return true;
}

/* Whether the counts can be solved. This does not depend on their values. */
static bool check_flow(struct notes *notes, struct function *function) {
    size_t used = function->flow->cell_count;
    if (used > notes->zero_count) {
        notes->zero_count = 2 * used;
        notes->zeros = ARENA_ARRAY(notes->arena, uint64_t, notes->zero_count);
    }
    return solve_flow(&notes->solver, function, notes->zeros);
}

/* ---- records ---- */

/* Leaves out FUNCTION, whose notes are not about the code in the binary: all others are right. */
static void leave_out(struct notes *notes, const struct function *function, const char *why) {
    struct left_alone left = {
        .name = function->name,
        .reason = arena_print(notes->arena, "its notes do not fit its code: %s", why),
        .address = function->address};
    vector_push(notes->arena, &notes->module->left_alone, left);
    if (!notes->unfit_count++)
        notes->unfit = left;
}

/* Reads the rest of FUNCTION's record; CELLS is the address of its cells. Returns NULL, or why it
 * cannot be counted. */
static const char *read_flow(struct notes *notes, struct cursor *cursor, uint64_t cells,
                             struct function *function) {
    uint64_t distance = cells - notes->module->cells_address;
    if (distance % sizeof(uint64_t) != 0)
        return "its cells are not aligned";
    function->first_cell = distance / sizeof(uint64_t);
    read_fragments(notes, cursor, function);
    if (cursor->failed || !read_blocks(notes, cursor, function))
        return "its blocks are others";
    if (!read_edges(notes, cursor, function))
        return "its edges are not between its blocks";
    return check_flow(notes, function) ? NULL : "its counts cannot be solved";
}

/* Whether the linker has dropped the function: then its references are zero, or out of range. */
static bool was_dropped(const struct module *module, uint64_t address, uint64_t cells) {
    uint64_t distance = cells - module->cells_address;
    return address == 0 || cells < module->cells_address ||
           distance > module->cell_count * sizeof(uint64_t);
}

static const char *read_function(struct notes *notes, struct cursor *cursor) {
    struct module *module = notes->module;
    struct function function = {.module = module};
    function.address = cursor_number(cursor, 8);
    uint64_t cells = cursor_number(cursor, 8);
    function.name = cursor_text(cursor);
    function.demangled = function.name;
    if (cursor->failed)
        return "its notes are corrupt: a function's record is cut short";
    if (was_dropped(module, function.address, cells))
        return NULL;
    const char *why = read_flow(notes, cursor, cells, &function);
    if (why)
        leave_out(notes, &function, why);
    else
        vector_push(notes->arena, &module->functions, function);
    return NULL;
}

static const char *read_left_alone(struct notes *notes, struct cursor *cursor) {
    struct left_alone left = {.address = cursor_number(cursor, 8)};
    left.name = cursor_text(cursor);
    left.reason = cursor_text(cursor);
    if (cursor->failed)
        return "its notes are corrupt: a record is cut short";
    vector_push(notes->arena, &notes->module->left_alone, left);
    return NULL;
}

static const char *read_unit(struct notes *notes, struct cursor *cursor) {
    struct unit_note unit = {.version = cursor_text(cursor)};
    unit.source = cursor_text(cursor);
    unit.compiler = cursor_text(cursor);
    unit.options = cursor_text(cursor);
    if (cursor->failed)
        return "its notes are corrupt: a unit's record is cut short";
    vector_push(notes->arena, &notes->module->units, unit);
    return NULL;
}

/* Units share the cells of their module. So each number must belong to one class in all units, and
 * each name to one number. Otherwise the counts of that number mean nothing. */
static void add_class(struct notes *notes, uint32_t number, struct event_class class) {
    struct event_class *classes = notes->module->classes;
    if (!classes[number].name)
        classes[number] = class;
    for (uint32_t n = QUIPU_EVENT_CLASSES; n < QUIPU_EVENTS; n++) {
        const struct event_class *other = &classes[n];
        bool same = other->name && strcmp(other->name, class.name) == 0;
        if (!other->name || (n != number && !same) ||
            (n == number && same && strcmp(other->pattern, class.pattern) == 0))
            continue;
        if (!notes->module->class_conflict)
            notes->module->class_conflict = arena_print(
                notes->arena, "'%s' counts '%s=%s', and '%s' counts '%s=%s'", other->source,
                other->name, other->pattern, class.source, class.name, class.pattern);
    }
}

static const char *read_events(struct notes *notes, struct cursor *cursor) {
    struct module *module = notes->module;
    uint64_t cells = cursor_number(cursor, 8);
    uint32_t kinds = (uint32_t)cursor_number(cursor, 4);
    uint64_t first = (cells - module->cells_address) / sizeof(uint64_t);
    if (cursor->failed || cells < module->cells_address || cells % sizeof(uint64_t) != 0 ||
        first > module->cell_count || module->cell_count - first < QUIPU_EVENT_BLOCK / 8)
        return "its notes are corrupt: its cells of events are not among its cells";
    module->event_kinds |= kinds;
    module->first_event = first;
    const char *source =
        module->units.count ? module->units.data[module->units.count - 1].source : module->path;
    for (uint32_t n = QUIPU_EVENT_CLASSES; n < QUIPU_EVENTS; n++)
        if (kinds >> n & 1) {
            struct event_class class = {.name = cursor_text(cursor), .source = source};
            class.pattern = cursor_text(cursor);
            if (cursor->failed || !class.name || !class.pattern)
                return "its notes are corrupt: a class of events has no name";
            add_class(notes, n, class);
        }
    return NULL;
}

/* src/trace reads it. */
static const char *skip_record(struct notes *notes, struct cursor *cursor) {
    (void)notes;
    (void)cursor;
    return NULL;
}

static const char *read_record(struct notes *notes, struct cursor *cursor) {
    static const struct {
        enum quipu_note_kind kind;
        const char *(*read)(struct notes *notes, struct cursor *cursor);
    } kinds[] = {
        {QUIPU_NOTE_UNIT, read_unit},
        {QUIPU_NOTE_FUNCTION, read_function},
        {QUIPU_NOTE_LEFT_ALONE, read_left_alone},
        {QUIPU_NOTE_EVENTS, read_events},
        {QUIPU_NOTE_TRACE, skip_record},
    };
    uint64_t kind = cursor_number(cursor, 1), version = cursor_number(cursor, 1);
    if (!cursor->failed && version != QUIPU_NOTE_VERSION)
        return arena_print(notes->arena,
                           "its notes are of version %u, this quipu reads version %d; use the "
                           "quipu that built it",
                           (unsigned)version, QUIPU_NOTE_VERSION);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!cursor->failed && kind == kinds[i].kind)
            return kinds[i].read(notes, cursor);
    return "its notes are corrupt: a record is of no known kind";
}

static const char *read_section(struct notes *notes, const char *name) {
    size_t size;
    const uint8_t *bytes = binary_section(notes->binary, name, &size);
    if (!bytes)
        return size
                   ? arena_print(notes->arena, "it is truncated: section '%s' ends beyond it", name)
                   : NULL;
    notes->module->note_size += size;
    for (struct cursor all = {bytes, bytes + size, false}; cursor_left(&all);) {
        const uint8_t *start = all.next;
        report_progress("instructions", (size_t)(start - bytes), size);
        uint64_t record = cursor_number(&all, 4);
        if (all.failed || record < 4 || record > (uint64_t)(all.end - start))
            return arena_print(notes->arena,
                               "its notes are corrupt: section '%s' holds a record of an "
                               "impossible size",
                               name);
        struct cursor one = {all.next, start + record, false};
        const char *cause = read_record(notes, &one);
        if (cause)
            return cause;
        all.next = start + record;
    }
    report_progress("instructions", size, size);
    return NULL;
}

static int compare_functions(const void *left, const void *right) {
    const struct function *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->first_cell < b->first_cell ? -1 : a->first_cell > b->first_cell;
}

const char *notes_read(struct arena *arena, struct module *module) {
    struct notes notes = {.arena = arena, .module = module, .binary = module->binary};
    for (size_t i = 0; i < module->binary->segments.count; i++)
        if (module->binary->segments.data[i].executable)
            notes.code_budget += module->binary->segments.data[i].size;
    const char *cause = read_section(&notes, QUIPU_UNITS_SECTION);
    if (!cause)
        cause = read_section(&notes, QUIPU_FUNCTIONS_SECTION);
    arena_release(&notes.scratch);
    solver_release(&notes.solver);
    if (!cause && notes.unfit_count)
        warn("'%s': %zu of its functions %s not counted, as their notes do not fit their code; the "
             "first: '%s': %s; if it was changed after it was linked, build it anew",
             module->path, notes.unfit_count, notes.unfit_count == 1 ? "is" : "are",
             notes.unfit.name, notes.unfit.reason);
    if (!cause && module->functions.count)
        qsort(module->functions.data, module->functions.count, sizeof *module->functions.data,
              compare_functions);
    return cause;
}
