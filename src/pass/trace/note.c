/* note.c: the note from which a trace is regenerated; format/trace.h describes it.
 *
 * requires: labels at all pieces   breaks: nothing */
#include "pass/trace/trace.h"

#include "format/notes.h"
#include "format/trace.h"
#include "pass/pieces.h"
#include "pass/record.h"

/* Returns 1 + the record in front of instruction INDEX of BLOCK, or 0. */
static uint32_t record_before(const struct trace_records *trace, uint32_t block, uint32_t index) {
    if (!trace->of_block[block])
        return 0;
    for (size_t i = trace->of_block[block] - 1;
         i < trace->records.count && trace->records.data[i].block == block; i++)
        if (trace->records.data[i].at == index)
            return (uint32_t)i + 1;
    return 0;
}

static void add_pieces(struct record *note, const struct planner *p,
                       const struct trace_records *trace, uint32_t index, uint32_t function) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    if (block->padding) {
        record_byte(note, QUIPU_BLOCK_PADDING);
        record_number(note, block->fragment);
        record_number(note, block->offset);
        record_number(note, block->size);
        flush_record(note);
        buffer_text(note->out, "\t.long 0\n");
        record_number(note, record_before(trace, index, 0));
        return;
    }
    for (size_t i = 0; i <= p->placed[index].splits.count; i++) {
        struct piece piece = piece_at(graph, block, &p->placed[index], i);
        record_byte(note, 0);
        record_number(note, block->fragment);
        record_number(note, piece.offset);
        record_number(note, piece.size);
        flush_record(note);
        buffer_print(note->out, "\t.long .LQb%u-.LQf%u_%u\n", piece.label, function,
                     block->fragment);
        record_number(note, record_before(trace, index, piece.from));
    }
}

/* KIND: with QUIPU_TRACE_TICKS, if the edge ticks. */
static void add_edge(struct record *note, uint32_t source, uint32_t target, unsigned kind,
                     uint32_t record) {
    record_number(note, source);
    record_number(note, target);
    record_byte(note, kind);
    record_number(note, record);
}

static void add_edges(struct record *note, const struct graph *graph, const struct pieces *pieces,
                      const struct trace_records *trace) {
    record_number(note, graph->hub_count);
    record_number(note, graph->edges.count + pieces->count - graph->blocks.count);
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        add_edge(note, source_number(graph, pieces, edge->source),
                 target_number(graph, pieces, edge->target),
                 edge->kind | (edge->ticks ? QUIPU_TRACE_TICKS : 0), trace->of_edge[i]);
    }
    for (size_t i = 0; i < graph->blocks.count; i++)
        for (uint32_t n = pieces->first[i] + 1; n < pieces->first[i + 1]; n++)
            add_edge(note, n, n + 1, QUIPU_EDGE_FALL, 0);
}

/* Returns the fragment that has the record's code. */
static unsigned fragment_of(const struct graph *graph, const struct trace_record *record) {
    uint32_t block =
        record->block == NONE ? graph->edges.data[record->edge].source - 1 : record->block;
    return graph->blocks.data[block].fragment;
}

static void add_records(struct record *note, const struct planner *p,
                        const struct trace_records *trace, uint32_t function) {
    const struct graph *graph = p->graph;
    record_number(note, trace->records.count);
    for (size_t i = 0; i < trace->records.count; i++) {
        const struct trace_record *record = &trace->records.data[i];
        struct access_vector vectors[ACCESS_VECTORS_MAX];
        unsigned vector_count = vectors_of_record(graph, record, vectors);
        record_byte(note, (record->sync ? QUIPU_TRACE_SYNC : QUIPU_TRACE_FIRST) |
                              (vector_count ? QUIPU_TRACE_HAS_VECTORS : 0) |
                              (record->repeats ? QUIPU_TRACE_REPEATS : 0));
        record_byte(note, record->registers & 0xff);
        record_byte(note, record->registers >> 8);
        record_byte(note, record->narrow & 0xff);
        record_byte(note, record->narrow >> 8);
        unsigned fragment = fragment_of(graph, record);
        record_number(note, fragment);
        flush_record(note);
        buffer_print(note->out, "\t.long .LQw%u-.LQf%u_%u\n\t.short .LQ%c%u-.LQw%u\n",
                     record->label, function, fragment, end_label(p->state), record->label,
                     record->label);
        record_number(note, record->id);
        if (record->repeats)
            record_number(note, record->last);
        if (vector_count)
            record_byte(note, vector_count);
        for (unsigned n = 0; n < vector_count; n++) {
            record_byte(note, vectors[n].size);
            record_byte(note, vectors[n].number);
        }
    }
}

void write_trace_note(struct planner *p, const struct trace_records *trace, uint32_t number) {
    struct pass_state *state = p->state;
    const struct graph *graph = p->graph;
    const struct asm_function *function = graph->function;
    struct pieces pieces = number_pieces(graph, p->placed);
    struct record note;
    enter_function_notes(state, function, number);
    uint32_t label = ++state->labels;
    begin_note(&note, &state->tail, label, QUIPU_NOTE_TRACE);
    flush_record(&note);
    buffer_print(note.out, "\t.quad .LQf%u_0\n", number);
    record_text(&note, function_name(graph->arena, graph->unit, function));
    record_number(&note, function->fragments.count);
    flush_record(&note);
    for (size_t f = 0; f < function->fragments.count; f++)
        buffer_print(note.out, "\t.quad .LQf%u_%zu\n", number, f);
    record_number(&note, pieces.count);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        add_pieces(&note, p, trace, i, number);
    add_edges(&note, graph, &pieces, trace);
    add_records(&note, p, trace, number);
    add_order_sites(&note, p, &trace->order, &pieces, number);
    end_note(&note, label);
}
