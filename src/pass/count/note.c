/* note.c: the note from which readers compute a function's counts; format/notes.h describes its
 * format.
 *
 * The section of a note is linked to its function's section, and is in its group, if there is one.
 * So if the linker drops a function, it drops the note too.
 *
 * requires: a graph with cells, and labels at its blocks   breaks: nothing */
#include "pass/count/count.h"

#include "asm/locations.h"
#include "format/cells.h"
#include "format/notes.h"
#include "pass/pieces.h"
#include "pass/record.h"
#include "x86/sequence.h"

static void add_piece(struct record *note, const struct graph *graph,
                      const struct basic_block *block, const struct placed_block *placed,
                      const struct pieces *pieces, size_t piece, uint32_t function) {
    struct piece code = piece_at(graph, block, placed, piece);
    if (block->copy_of) {
        record_byte(note, QUIPU_BLOCK_COPY);
        record_number(note, pieces->first[block->copy_of - 1] + piece);
        record_number(note, piece ? 0 : block->cell);
        return;
    }
    bool turned = placed->turned && piece == placed->splits.count;
    record_byte(note, turned ? QUIPU_BLOCK_TURNED : 0);
    record_number(note, block->fragment);
    record_number(note, code.offset);
    record_number(note, code.size);
    record_number(note, piece ? 0 : block->cell);
    flush_record(note);
    buffer_print(note->out, "\t.long .LQb%u-.LQf%u_%u\n", code.label, function, block->fragment);
}

static void add_padding(struct record *note, const struct unit *unit,
                        const struct basic_block *block) {
    bool behind = false;
    uint64_t line = block->gap ? 0 : line_of_padding(unit, block->aligned_by, &behind);
    record_byte(note, QUIPU_BLOCK_PADDING);
    record_number(note, block->fragment);
    record_number(note, block->offset);
    record_number(note, block->size);
    record_number(note, block->cell);
    buffer_add(&note->bytes, block->padding_bytes, block->size);
    record_number(note, line ? 2 * line + behind : 0);
}

static void add_edges(struct record *note, const struct graph *graph, const struct pieces *pieces) {
    record_number(note, graph->hub_count);
    record_number(note, graph->edges.count + pieces->count - graph->blocks.count);
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        record_number(note, source_number(graph, pieces, edge->source));
        record_number(note, target_number(graph, pieces, edge->target));
        record_byte(note, edge->kind);
        record_number(note, edge->cell);
    }
    for (size_t i = 0; i < graph->blocks.count; i++)
        for (uint32_t n = pieces->first[i] + 1; n < pieces->first[i + 1]; n++) {
            record_number(note, n);
            record_number(note, n + 1);
            record_byte(note, QUIPU_EDGE_FALL);
            record_number(note, 0);
        }
}

/* Writes the function's cells, in the group of its section; then switches to the section for its
 * note. */
static void enter_sections(struct pass_state *state, const struct asm_function *function,
                           uint32_t number, uint32_t cells) {
    struct buffer *out = &state->tail;
    uint32_t section = function->fragments.data[0].section;
    buffer_print(out, "\t%s\n", state->unit->sections.data[section].directive);
    buffer_print(out, "\t.section " QUIPU_CELLS_SECTION ",\"aw?\",@nobits,unique,%u\n",
                 section + 1);
    write_cells(out, number, cells);
    enter_function_notes(state, function, number);
}

void write_function_note(struct planner *p, uint32_t number) {
    struct pass_state *state = p->state;
    const struct graph *graph = p->graph;
    const struct placed_block *placed = p->placed;
    struct buffer *out = &state->tail;
    const struct asm_function *function = graph->function;
    struct pieces pieces = number_pieces(graph, placed);
    struct record note;
    state->instrumented = true;
    enter_sections(state, function, number, graph->cell_count);
    uint32_t label = ++state->labels;
    begin_note(&note, out, label, QUIPU_NOTE_FUNCTION);
    flush_record(&note);
    buffer_print(out, "\t.quad .LQf%u_0, .LQc%u\n", number, number);
    record_text(&note, function_name(graph->arena, graph->unit, function));
    record_number(&note, function->fragments.count);
    flush_record(&note);
    for (size_t f = 0; f < function->fragments.count; f++)
        buffer_print(out, "\t.quad .LQf%u_%zu\n", number, f);
    record_number(&note, pieces.count);
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        if (block->padding && !block->copy_of)
            add_padding(&note, graph->unit, block);
        else
            for (size_t piece = 0; piece <= placed[i].splits.count; piece++)
                add_piece(&note, graph, block, &placed[i], &pieces, piece, number);
    }
    add_edges(&note, graph, &pieces);
    end_note(&note, label);
}
