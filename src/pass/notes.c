/* notes.c: the notes that readers solve counts from; data/format.h, section 2, is their format.
 *
 * A note stands in a section that is linked to its function's and in its group, if it has one, so
 * what the linker drops takes its note along.
 *
 * requires: a graph with cells, and labels at its blocks   breaks: nothing */
#include "pass/pass.h"

#include "data/format.h"
#include "x86/sequence.h"

#include <string.h>

/* Bytes that are known here are collected and written as one .ascii; what the assembler must fill
 * in stands between. */
struct note {
    struct buffer *out;
    struct buffer bytes;
};

static void write_ascii(struct buffer *out, const void *bytes, size_t count) {
    const unsigned char *c = bytes;
    buffer_text(out, "\t.ascii \"");
    for (size_t i = 0; i < count; i++) {
        if (c[i] >= ' ' && c[i] < 0x7f && c[i] != '"' && c[i] != '\\') {
            buffer_add(out, &c[i], 1);
        } else {
            char octal[4] = {'\\', (char)('0' + (c[i] >> 6)), (char)('0' + (c[i] >> 3 & 7)),
                             (char)('0' + (c[i] & 7))};
            buffer_add(out, octal, 4);
        }
    }
    buffer_text(out, "\"\n");
}

static void flush(struct note *note) {
    if (note->bytes.count)
        write_ascii(note->out, note->bytes.data, note->bytes.count);
    note->bytes.count = 0;
}

static void add_byte(struct note *note, unsigned value) {
    unsigned char byte = (unsigned char)value;
    buffer_add(&note->bytes, &byte, 1);
}

static void add_number(struct note *note, uint64_t value) {
    buffer_uleb128(&note->bytes, value);
}

static void add_text(struct note *note, const char *text) {
    buffer_add(&note->bytes, text, strlen(text) + 1);
}

/* Opens a record: its size is for the assembler to find out. */
static void begin_record(struct note *note, struct buffer *out, uint32_t label, unsigned kind) {
    *note = (struct note){.out = out};
    buffer_print(out, ".LQx%u:\n\t.long .LQy%u-.LQx%u\n", label, label, label);
    add_byte(note, kind);
    add_byte(note, QUIPU_NOTE_VERSION);
}

static void end_record(struct note *note, uint32_t label) {
    flush(note);
    buffer_print(note->out, ".LQy%u:\n", label);
    buffer_release(&note->bytes);
}

const char *function_name(const struct unit *unit, const struct asm_function *function) {
    const struct symbol *symbol = &unit->symbols.data[function->symbol];
    return arena_copy((struct arena *)&unit->arena, symbol->name, symbol->length);
}

/* ---- functions ---- */

struct pieces {
    uint32_t *first; /* by block: number of its first piece */
    uint32_t count;  /* of all */
};

static struct pieces number_pieces(const struct graph *graph, const struct placed_block *placed) {
    struct pieces pieces = {ARENA_ARRAY(graph->arena, uint32_t, graph->blocks.count + 1), 0};
    for (size_t i = 0; i < graph->blocks.count; i++) {
        pieces.first[i] = pieces.count;
        pieces.count += 1 + (uint32_t)placed[i].splits.count;
    }
    pieces.first[graph->blocks.count] = pieces.count;
    return pieces;
}

static uint32_t target_number(const struct graph *graph, const struct pieces *pieces,
                              uint32_t end) {
    if (is_block(graph, end))
        return pieces->first[end - 1] + 1;
    return end ? pieces->count + end - (uint32_t)graph->blocks.count : 0;
}

static uint32_t source_number(const struct graph *graph, const struct pieces *pieces,
                              uint32_t end) {
    return is_block(graph, end) ? pieces->first[end] : target_number(graph, pieces, end);
}

static void add_piece(struct note *note, const struct graph *graph, const struct basic_block *block,
                      const struct placed_block *placed, const struct pieces *pieces, size_t piece,
                      uint32_t function) {
    uint32_t from = piece ? placed->splits.data[piece - 1] : 0;
    uint32_t to = piece < placed->splits.count ? placed->splits.data[piece] : block->count;
    uint32_t offset = block->offset, size = 0;
    for (uint32_t i = 0; i < to; i++) {
        uint32_t bytes = graph->instructions.data[block->first + i].decoded->size;
        if (i < from)
            offset += bytes;
        else
            size += bytes;
    }
    if (block->copy_of) {
        add_byte(note, QUIPU_BLOCK_COPY);
        add_number(note, pieces->first[block->copy_of - 1] + piece);
        add_number(note, piece ? 0 : block->cell);
        return;
    }
    bool turned = block->turns_to && piece == placed->splits.count;
    add_byte(note, turned ? QUIPU_BLOCK_TURNED : 0);
    add_number(note, block->fragment);
    add_number(note, offset);
    add_number(note, size);
    add_number(note, piece ? 0 : block->cell);
    flush(note);
    buffer_print(note->out, "\t.long .LQb%u-.LQf%u_%u\n",
                 piece ? placed->split_labels.data[piece - 1] : placed->label, function,
                 block->fragment);
}

static void add_padding(struct note *note, const struct basic_block *block) {
    add_byte(note, QUIPU_BLOCK_PADDING);
    add_number(note, block->fragment);
    add_number(note, block->offset);
    add_number(note, block->size);
    add_number(note, 0);
    buffer_add(&note->bytes, block->padding_bytes, block->size);
}

static void add_edges(struct note *note, const struct graph *graph, const struct pieces *pieces) {
    add_number(note, graph->hub_count);
    add_number(note, graph->edges.count + pieces->count - graph->blocks.count);
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        add_number(note, source_number(graph, pieces, edge->source));
        add_number(note, target_number(graph, pieces, edge->target));
        add_byte(note, edge->kind);
        add_number(note, edge->cell);
    }
    for (size_t i = 0; i < graph->blocks.count; i++)
        for (uint32_t n = pieces->first[i] + 1; n < pieces->first[i + 1]; n++) {
            add_number(note, n);
            add_number(note, n + 1);
            add_byte(note, QUIPU_EDGE_FALL);
            add_number(note, 0);
        }
}

/* Enters the section of the function's entry, then, in its group, the one for its cells and the one
 * for its note.  All notes of one code section are linked to its first function. */
static void enter_sections(struct pass_state *state, const struct asm_function *function,
                           uint32_t number, uint32_t cells) {
    struct buffer *out = &state->tail;
    const struct unit *unit = state->unit;
    uint32_t section = function->fragments.data[0].section;
    uint32_t *linked = &state->linked[section];
    if (!*linked)
        *linked = number + 1;
    buffer_print(out, "\t%s\n", unit->sections.data[section].directive);
    buffer_print(out, "\t.section " QUIPU_CELLS_SECTION ",\"aw?\",@nobits,unique,%u\n",
                 section + 1);
    write_cells(out, number, cells);
    buffer_print(out, "\t%s\n", unit->sections.data[section].directive);
    buffer_print(out, "\t.section " QUIPU_FUNCTIONS_SECTION ",\"?o\",@progbits,.LQf%u_0\n", number);
}

void write_function_note(struct pass_state *state, const struct graph *graph,
                         const struct placed_block *placed, uint32_t number) {
    struct buffer *out = &state->tail;
    const struct asm_function *function = graph->function;
    struct pieces pieces = number_pieces(graph, placed);
    struct note note;
    state->instrumented = true;
    enter_sections(state, function, number, graph->cell_count);
    uint32_t label = ++state->labels;
    begin_record(&note, out, label, QUIPU_NOTE_FUNCTION);
    flush(&note);
    buffer_print(out, "\t.quad .LQf%u_0, .LQc%u\n", number, number);
    add_text(&note, function_name(graph->unit, function));
    add_number(&note, function->fragments.count);
    flush(&note);
    for (size_t f = 0; f < function->fragments.count; f++)
        buffer_print(out, "\t.quad .LQf%u_%zu\n", number, f);
    add_number(&note, pieces.count);
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        if (block->padding && !block->copy_of)
            add_padding(&note, block);
        else
            for (size_t piece = 0; piece <= placed[i].splits.count; piece++)
                add_piece(&note, graph, block, &placed[i], &pieces, piece, number);
    }
    add_edges(&note, graph, &pieces);
    end_record(&note, label);
}

/* Such a function's text may be anything, a macro's body even: nothing is put into it, and its name
 * must do. */
void write_left_alone_note(struct pass_state *state, const struct asm_function *function) {
    struct note note;
    uint32_t label = ++state->labels;
    buffer_text(&state->tail, "\t.section " QUIPU_FUNCTIONS_SECTION ",\"\",@progbits\n");
    begin_record(&note, &state->tail, label, QUIPU_NOTE_LEFT_ALONE);
    flush(&note);
    buffer_text(&state->tail, "\t.quad 0\n");
    add_text(&note, function_name(state->unit, function));
    add_text(&note, function->left_alone);
    end_record(&note, label);
}

void write_unit_note(struct pass_state *state, const char *version) {
    struct note note;
    uint32_t label = ++state->labels;
    buffer_text(&state->tail, "\t.section " QUIPU_UNITS_SECTION ",\"\",@progbits\n");
    begin_record(&note, &state->tail, label, QUIPU_NOTE_UNIT);
    add_text(&note, version);
    add_text(&note, state->unit->source[0] ? state->unit->source : state->unit->name);
    add_text(&note, state->unit->compiler);
    add_text(&note, state->options->placement == PLACEMENT_TREE ? "count,placement=tree"
                                                                : "count,placement=block");
    end_record(&note, label);
    if (state->instrumented) /* else the names would be undefined symbols of no type */
        buffer_print(&state->tail, "\t.hidden quipu_bias\n\t.hidden %s\n",
                     state->options->shared ? "quipu_attach" : "quipu_attach_segment");
}
