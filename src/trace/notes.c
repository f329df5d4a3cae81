/* notes.c: the notes of traces in a binary; format/trace.h describes them.
 *
 * No number of a note is trusted. */
#include "trace/trace.h"

#include "format/notes.h"
#include "symbols/binary.h"
#include "trace/layout.h"
#include "util/cursor.h"

#include <stdlib.h>

enum {
    FRAGMENTS_MAX = 255,
    PIECE_BYTES = 9,
    EDGE_BYTES = 4,
    RECORD_BYTES = 6,
    SITE_BYTES = 6
};

static bool read_fragments(struct arena *arena, struct cursor *cursor,
                           struct traced_function *function) {
    function->fragment_count = (uint32_t)cursor_uleb128_to(cursor, FRAGMENTS_MAX);
    function->fragments = ARENA_ARRAY(arena, uint64_t, function->fragment_count);
    for (uint32_t i = 0; i < function->fragment_count; i++)
        function->fragments[i] = cursor_number(cursor, 8);
    return !cursor->failed && function->fragment_count;
}

static bool read_pieces(struct arena *arena, struct cursor *cursor,
                        struct traced_function *function) {
    size_t count = cursor_uleb128_to(cursor, cursor_left(cursor) / PIECE_BYTES);
    function->pieces = ARENA_ARRAY(arena, struct piece, count);
    function->piece_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct piece *piece = &function->pieces[i];
        piece->padding = cursor_number(cursor, 1) & QUIPU_BLOCK_PADDING;
        piece->fragment = (uint8_t)cursor_uleb128_to(cursor, function->fragment_count - 1);
        piece->offset = (uint32_t)cursor_uleb128_to(cursor, INT32_MAX);
        piece->size = (uint32_t)cursor_uleb128_to(cursor, INT32_MAX);
        piece->address = cursor_number(cursor, 4);
        piece->record = (uint32_t)cursor_uleb128_to(cursor, UINT32_MAX - 1);
        if (cursor->failed)
            return false;
        piece->address += function->fragments[piece->fragment];
    }
    return !cursor->failed;
}

static int compare_edges(const void *left, const void *right) {
    const struct path_edge *a = left, *b = right;
    return a->source < b->source ? -1 : a->source > b->source;
}

static bool read_edges(struct arena *arena, struct cursor *cursor,
                       struct traced_function *function) {
    function->hub_count = (uint32_t)cursor_uleb128_to(cursor, cursor_left(cursor));
    size_t count = cursor_uleb128_to(cursor, cursor_left(cursor) / EDGE_BYTES);
    uint64_t last = function->piece_count + (uint64_t)function->hub_count;
    function->edges = ARENA_ARRAY(arena, struct path_edge, count);
    function->edge_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct path_edge *edge = &function->edges[i];
        edge->source = (uint32_t)cursor_uleb128_to(cursor, last);
        edge->target = (uint32_t)cursor_uleb128_to(cursor, last);
        edge->kind = (uint8_t)cursor_number(cursor, 1);
        edge->ticks = edge->kind & QUIPU_TRACE_TICKS;
        edge->kind &= (uint8_t)~QUIPU_TRACE_TICKS;
        edge->record = (uint32_t)cursor_uleb128_to(cursor, UINT32_MAX - 1);
    }
    if (cursor->failed)
        return false;
    if (count)
        qsort(function->edges, count, sizeof *function->edges, compare_edges);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t source = function->edges[i].source;
        if (source == 0 || source > function->piece_count)
            continue;
        struct piece *piece = &function->pieces[source - 1];
        if (!piece->edge_count++)
            piece->first_edge = i;
    }
    return true;
}

/* Reads the vectors that a record has. */
static bool read_vectors(struct cursor *cursor, struct record_note *record) {
    record->vector_count = (uint8_t)cursor_number(cursor, 1);
    if (record->vector_count > QUIPU_TRACE_VECTORS)
        return false;
    for (unsigned i = 0; i < record->vector_count; i++) {
        record->vector_sizes[i] = (uint8_t)cursor_number(cursor, 1);
        cursor_number(cursor, 1); /* the register, as the instruction tells it */
        if (record->vector_sizes[i] > QUIPU_TRACE_VECTOR_SIZE)
            return false;
        record->size += record->vector_sizes[i];
    }
    return true;
}

/* Reads what a sync is that leaves out values. */
static bool read_repeated(struct cursor *cursor, struct record_note *record) {
    struct quipu_trace_form form = form_of_record(record);
    form.sync = QUIPU_TRACE_SHORT_SYNC;
    form.wide = 0;
    const struct quipu_trace_head *head = quipu_trace_head_of(form);
    record->last = (uint16_t)cursor_uleb128_to(cursor, QUIPU_TRACE_LAST_COUNT - 1);
    if (!record->sync || !head)
        return false;
    record->repeats = true;
    record->repeated_first = head->first;
    return !cursor->failed;
}

/* Makes the table of the ids of witnesses. */
static void add_ids(struct arena *arena, struct traced_function *function) {
    for (uint32_t i = 0; i < function->record_count; i++) {
        const struct record_note *record = &function->records[i];
        if (!record->sync && record->id >= function->id_count)
            function->id_count = record->id + 1;
    }
    function->record_of_id = ARENA_ARRAY(arena, uint32_t, function->id_count);
    for (uint32_t i = 0; i < function->record_count; i++) {
        const struct record_note *record = &function->records[i];
        if (!record->sync)
            function->record_of_id[record->id] = i + 1;
    }
}

static bool read_records(struct arena *arena, struct cursor *cursor,
                         struct traced_function *function) {
    size_t count = cursor_uleb128_to(cursor, cursor_left(cursor) / RECORD_BYTES);
    function->records = ARENA_ARRAY(arena, struct record_note, count);
    function->record_count = (uint32_t)count;
    const uint64_t ids = QUIPU_TRACE_NUMBERED + (uint64_t)count;
    for (size_t i = 0; i < count; i++) {
        struct record_note *record = &function->records[i];
        uint64_t kind = cursor_number(cursor, 1);
        record->sync =
            (kind & ~(uint64_t)(QUIPU_TRACE_HAS_VECTORS | QUIPU_TRACE_REPEATS)) == QUIPU_TRACE_SYNC;
        record->registers = (uint16_t)cursor_number(cursor, 2);
        record->narrow = (uint16_t)cursor_number(cursor, 2);
        record->piece = record->edge = record->begin = NONE_OF;
        uint64_t fragment = cursor_uleb128_to(cursor, function->fragment_count - 1);
        if (cursor->failed || record->narrow & ~record->registers)
            return false;
        record->address =
            function->fragments[fragment] + (uint64_t)(int32_t)cursor_number(cursor, 4);
        record->code_size = (uint32_t)cursor_number(cursor, 2);
        record->id = (uint32_t)cursor_uleb128_to(cursor, ids - 1);
        if (kind & QUIPU_TRACE_REPEATS && !read_repeated(cursor, record))
            return false;
        if (!record->sync && (cursor->failed || record->id < QUIPU_TRACE_FIRST))
            return false;
        if (kind & QUIPU_TRACE_HAS_VECTORS && !read_vectors(cursor, record))
            return false;
        record->head = quipu_trace_head_size(form_of_record(record), record->id);
        record->narrow_size = (uint8_t)(4 * __builtin_popcount(record->narrow));
        record->wide_size = (uint8_t)(8 * __builtin_popcount(record->registers & ~record->narrow));
        record->size += record->head + record->wide_size + record->narrow_size;
    }
    add_ids(arena, function);
    return !cursor->failed;
}

static bool read_sites(struct arena *arena, struct cursor *cursor,
                       struct traced_function *function) {
    size_t count = cursor_uleb128_to(cursor, cursor_left(cursor) / SITE_BYTES);
    function->sites = ARENA_ARRAY(arena, struct order_site, count);
    function->site_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct order_site *site = &function->sites[i];
        uint64_t fragment = cursor_uleb128_to(cursor, function->fragment_count - 1);
        if (cursor->failed)
            return false;
        site->address = function->fragments[fragment] + (uint64_t)(int32_t)cursor_number(cursor, 4);
        site->piece = (uint32_t)cursor_uleb128_to(cursor, UINT32_MAX);
        if (cursor->failed || site->piece >= function->piece_count)
            return false;
    }
    return !cursor->failed;
}

/* Joins records, pieces and edges. */
static bool place_records(struct traced_function *function) {
    for (uint32_t i = 0; i < function->piece_count; i++) {
        uint32_t record = function->pieces[i].record;
        if (record > function->record_count)
            return false;
        if (record)
            function->records[record - 1].piece = i;
    }
    for (uint32_t i = 0; i < function->edge_count; i++) {
        uint32_t record = function->edges[i].record;
        if (record > function->record_count)
            return false;
        if (record)
            function->records[record - 1].edge = i;
    }
    for (uint32_t i = 0; i < function->record_count; i++) {
        const struct record_note *record = &function->records[i];
        if (record->piece != NONE_OF)
            continue;
        if (record->edge == NONE_OF)
            return false;
        const struct path_edge *e = &function->edges[record->edge];
        bool leads = e->target != 0 && e->target <= function->piece_count;
        bool comes = e->source != 0 && e->source <= function->piece_count;
        if (record->sync && (!comes || (!leads && !has_tail_result(function, e))))
            return false;
    }
    return true;
}

static const char *read_function(struct arena *arena, struct traced_module *module,
                                 struct cursor *cursor) {
    struct traced_function function = {.module = module};
    function.address = cursor_number(cursor, 8);
    function.name = cursor_text(cursor);
    if (!cursor->failed && function.address == 0)
        return NULL; /* the linker has dropped it */
    if (cursor->failed || !read_fragments(arena, cursor, &function) ||
        !read_pieces(arena, cursor, &function) || !read_edges(arena, cursor, &function) ||
        !read_records(arena, cursor, &function) || !read_sites(arena, cursor, &function) ||
        !place_records(&function))
        return "its notes of traces are corrupt";
    for (uint32_t i = 0; i < function.edge_count; i++)
        module->ticks |= function.edges[i].ticks;
    vector_push(arena, &module->functions, function);
    return NULL;
}

static int compare_functions(const void *left, const void *right) {
    const struct traced_function *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_syncs(const void *left, const void *right) {
    const struct sync_place *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_sites(const void *left, const void *right) {
    const struct order_site *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static void list_sites(struct arena *arena, struct traced_module *module) {
    for (size_t i = 0; i < module->functions.count; i++) {
        struct traced_function *function = &module->functions.data[i];
        for (uint32_t n = 0; n < function->site_count; n++) {
            function->sites[n].function = function;
            vector_push(arena, &module->sites, function->sites[n]);
        }
    }
    if (module->sites.count)
        qsort(module->sites.data, module->sites.count, sizeof *module->sites.data, compare_sites);
}

static void list_syncs(struct arena *arena, struct traced_module *module) {
    for (size_t i = 0; i < module->functions.count; i++) {
        struct traced_function *function = &module->functions.data[i];
        for (uint32_t r = 0; r < function->record_count; r++)
            if (function->records[r].sync)
                vector_push(arena, &module->syncs,
                            ((struct sync_place){function->records[r].address, function, r}));
    }
    if (module->syncs.count)
        qsort(module->syncs.data, module->syncs.count, sizeof *module->syncs.data, compare_syncs);
}

const char *read_trace_notes(struct arena *arena, struct traced_module *module) {
    size_t size;
    const uint8_t *bytes = binary_section(module->binary, QUIPU_FUNCTIONS_SECTION, &size);
    if (!bytes)
        return NULL;
    for (struct cursor all = {bytes, bytes + size, false}; cursor_left(&all);) {
        const uint8_t *start = all.next;
        uint64_t length = cursor_number(&all, 4);
        if (all.failed || length < 6 || length > (uint64_t)(all.end - start))
            return "its notes are corrupt";
        struct cursor one = {all.next, start + length, false};
        uint64_t kind = cursor_number(&one, 1), version = cursor_number(&one, 1);
        if (version != QUIPU_NOTE_VERSION)
            return "its notes are of another version of quipu; use the quipu that built it";
        const char *cause = kind == QUIPU_NOTE_TRACE ? read_function(arena, module, &one) : NULL;
        if (cause)
            return cause;
        all.next = start + length;
    }
    if (module->functions.count)
        qsort(module->functions.data, module->functions.count, sizeof *module->functions.data,
              compare_functions);
    list_syncs(arena, module);
    list_sites(arena, module);
    return NULL;
}

/* Returns the address of the instruction in front of PIECE, which is padding: its line is that
 * instruction's. */
static uint64_t address_of_padding(struct arena *arena, struct traced_function *function,
                                   struct piece *piece) {
    if (piece == function->pieces || piece[-1].fragment != piece->fragment)
        return function->fragments[piece->fragment];
    decode_piece(arena, function, piece - 1);
    return piece[-1].count ? piece[-1].instructions[piece[-1].count - 1].address
                           : piece[-1].address;
}

void decode_piece(struct arena *arena, struct traced_function *function, struct piece *piece) {
    static struct traced_instruction none;
    instruction_list list = {0};
    if (piece->instructions)
        return;
    piece->instructions = &none;
    size_t left;
    const uint8_t *code =
        piece->padding ? NULL : binary_code(function->module->binary, piece->address, &left);
    uint64_t address = piece->address;
    for (uint32_t size = piece->size; code && size;) {
        struct traced_instruction instruction = {.address = address, .shown = address};
        if (!decode_instruction(code, left, &instruction.decoded))
            break;
        uint8_t class = instruction.decoded.class;
        bool longer = class == CLASS_JUMP || class == CLASS_CONDITIONAL;
        uint32_t bytes = instruction.shown_size = instruction.decoded.size;
        instruction.effect = find_effect(&instruction.decoded, address + bytes);
        vector_push(arena, &list, instruction);
        code += bytes;
        left -= bytes;
        address += bytes;
        size -= longer || bytes > size ? size : bytes;
    }
    if (piece->shown && piece->padding) {
        piece->address = address_of_padding(arena, function, piece);
        lay_out_padding(arena, function, piece, &list);
    } else if (piece->shown) {
        lay_out_piece(function, piece, &list);
    }
    if (list.count) {
        piece->instructions = list.data;
        piece->count = (uint32_t)list.count;
    }
}
