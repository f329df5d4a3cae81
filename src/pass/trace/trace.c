/* trace.c: records for traces of all instructions and addresses.
 *
 * Larus's abstract execution (Mazieres and Smith 1994, section 2): the program records witnesses of
 * its path, and the few values of registers without which addresses cannot be computed. src/trace
 * regenerates everything else from these and the binary.
 *
 * Where control comes from elsewhere (entries, landing pads, returns of calls) a record names its
 * own code and the stack pointer. So the regenerator need not know what happens elsewhere: in
 * libraries, in the unwinder, in longjmp, in the kernel.
 *
 * requires: place_chords, find_liveness   maintains: as insert.c */
#include "pass/trace/trace.h"

#include "format/trace.h"
#include "pass/plan.h"
#include "x86/trace_record.h"

static bool is_on(const struct pass_options *options) {
    return options->trace;
}

static struct trace_records *records_of(const struct pass_state *state) {
    return unit_data(state, &trace_feature);
}

static void begin_unit(struct pass_state *state) {
    keep_unit_data(state, &trace_feature, ARENA_NEW(&state->unit->arena, struct trace_records));
}

static const char *prepare(struct pass_state *state, struct graph *graph) {
    find_frequencies(graph, state->options->earlier);
    return find_wanted_values(graph, records_of(state), !state->options->libc);
}

static void plan(struct planner *p) {
    choose_records(p, records_of(p->state));
    find_narrow_values(p->graph, records_of(p->state));
    choose_repeating(p, records_of(p->state));
    number_witnesses(p, records_of(p->state));
    choose_order_sites(p, &records_of(p->state)->order, p->state->options->libc);
    find_cursors(p, records_of(p->state));
    choose_unrolled(p, records_of(p->state));
}

void write_record(struct planner *p, struct buffer *out, const struct trace_record *record,
                  const struct frame_row *frame) {
    struct trace_code code = code_of_record(p, record);
    uint32_t live = live_at_record(p->graph, record);
    struct clobbers clobbers = clobbers_at(p, live, false, *frame, 0);
    write_trace_record(out, &p->context, &code, &clobbers);
}

struct trace_site site_of_record(const struct trace_record *record, const struct basic_block *block,
                                 const struct frame_row *frame) {
    return (struct trace_site){
        .label = record->label, .record = 'w', .fragment = block->fragment, .frame = *frame};
}

/* Writes the test whether the kernel calls the function as a handler, if RECORD has it. LIVE: what
 * is live there. */
static void write_handler_test(struct planner *p, struct buffer *out,
                               const struct trace_record *record, uint32_t live,
                               const struct frame_row *frame) {
    if (!record->tests_handler || live & LIVE(0, FLAGS_ALL))
        return;
    struct load_place place = {.frame = *frame, .at_entry = true};
    struct clobbers clobbers = clobbers_at(p, live, false, *frame, 0); /* the base stays */
    int scratch = find_scratch(clobbers.free & (uint16_t)~REGISTER_R11, 2 /* %rdx */);
    if (scratch < 0) /* %r11 may still be the cursor */
        scratch = find_scratch(clobbers.free, 2);
    write_trace_handler_test(out, &p->context, &place, scratch);
}

static void insert_block_record(struct planner *p, const struct trace_record *record) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[record->block];
    struct buffer text = {0};
    struct site_code site;
    if (block->padding) {
        struct frame_row frame = frame_before_padding(p, block);
        begin_marks(p, block->fragment, sums_in_block(p, record->block, 0, false));
        begin_site(p, &site);
        write_record(p, &site.code, record, &frame);
        end_site(p, &text, &site, site_of_record(record, block, &frame));
        anchor_marks(p);
        insert_before_padding(p, block, &text);
        return;
    }
    const struct graph_instruction *at = &graph->instructions.data[block->first + record->at];
    struct frame_row frame = frame_at(p, at);
    uint32_t live = live_before(graph, block, record->at);
    anchor_code(p, &text, block->fragment,
                sums_in_block(p, record->block, record->at,
                              record->at > p->blocks[record->block].counter_at));
    set_counted_line(p, at);
    begin_site(p, &site);
    write_handler_test(p, &site.code, record, live, &frame);
    write_record(p, &site.code, record, &frame);
    end_site(p, &text, &site, site_of_record(record, block, &frame));
    split_block(p, record->block, record->at);
    insert_at(p, at, &text);
    anchor_marks(p);
}

static void insert_block_records(struct planner *p, const struct trace_records *trace,
                                 uint32_t index) {
    size_t first = trace->of_block[index] ? trace->of_block[index] - 1 : trace->records.count;
    for (size_t i = first; i < trace->records.count && trace->records.data[i].block == index; i++)
        insert_block_record(p, &trace->records.data[i]);
}

static void insert_begin(struct planner *p, uint32_t index) {
    insert_unrolled(p, records_of(p->state), index);
}

static void insert_inside(struct planner *p, uint32_t index) {
    const struct trace_records *trace = records_of(p->state);
    insert_block_records(p, trace, index);
    insert_order_sites(p, &trace->order, index);
    if (trace->of_tail[index])
        insert_tail_call(p, trace, index);
}

static void write_edge_begin(struct planner *p, struct buffer *out, uint32_t index) {
    const struct trace_records *trace = records_of(p->state);
    const struct graph *graph = p->graph;
    const struct edge *edge = &graph->edges.data[index];
    if (!trace->of_edge[index] || trace->records.data[trace->of_edge[index] - 1].behind_tail)
        return;
    const struct basic_block *source = vector_at(&graph->blocks, edge->source - 1);
    const struct graph_instruction *last = last_instruction(graph, source);
    struct frame_row frame = frame_at(p, last);
    set_counted_line(p, last);
    const struct trace_record *record = &trace->records.data[trace->of_edge[index] - 1];
    struct site_code site;
    begin_marks(p, source->fragment, sums_on_edge(p, index));
    begin_site(p, &site);
    write_handler_test(p, &site.code, record, live_at_record(graph, record), &frame);
    write_record(p, &site.code, record, &frame);
    end_site_on_edge(p, out, &site, site_of_record(record, source, &frame), index);
    anchor_marks(p);
}

static void write_edge_end(struct planner *p, struct buffer *out, uint32_t index) {
    end_unrolled(p, records_of(p->state), out, index);
}

static void write_note(struct planner *p, uint32_t number) {
    write_trace_note(p, records_of(p->state), number);
    write_trace_sites(p, records_of(p->state), number);
}

static void declare_symbols(struct pass_state *state) {
    buffer_text(&state->tail, "\t.hidden quipu_trace\n\t.type quipu_trace, @tls_object\n"
                              "\t.hidden quipu_trace_full\n\t.hidden quipu_trace_handler\n"
                              "\t.hidden quipu_trace_order\n"
                              "\t.hidden quipu_trace_measure\n");
}

const struct feature trace_feature = {
    .name = "trace",
    .is_on = is_on,
    .needs = NEEDS_LOOPS | NEEDS_TAILS | NEEDS_SCRATCH | NEEDS_LAYOUT | NEEDS_LABELS,
    .begin_unit = begin_unit,
    .declare_symbols = declare_symbols,
    .prepare = prepare,
    .plan = plan,
    .insert_begin = insert_begin,
    .insert_inside = insert_inside,
    .write_edge_begin = write_edge_begin,
    .write_edge_end = write_edge_end,
    .write_note = write_note,
};
