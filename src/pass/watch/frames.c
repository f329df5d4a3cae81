/* frames.c: entries and ends of functions, and points at which control returns from left frames,
 * for watched locals.
 *
 * A local is watched from its function's entry to its end. So the runtime must learn of both, and
 * of frames that an exception or longjmp left. Until a local is watched, each such point has a
 * no-operation, like a check that is left out. The points are those of calls.c.
 *
 * There is none behind swapcontext: the frames below are not left, but wait on another stack.
 *
 * requires: a plan    maintains: as insert.c
 * Not perfect: hand-written functions have none. For indirect jumps see calls.c. */
#include "format/notes.h"
#include "pass/watch/watch.h"

#include "asm/operand.h"
#include "x86/frame_check.h"
#include "x86/store_check.h"

static bool wanted(const struct planner *p) {
    return p->graph->function->compiled;
}

/* Writes the code out of line, and the row of the table. */
static void write_far(struct planner *p, enum frame_site site, uint8_t fragment, uint32_t label,
                      bool shared, const struct event_sums *sums, const struct frame_row *frame) {
    const char *function = function_label(p);
    buffer_print(&p->far_stubs, "; .LQz%s%u: ", shared ? "f" : "", label);
    anchor_code(p, &p->far_stubs, fragment, *sums);
    enter_frame(p, frame);
    write_frame_stub(&p->far_stubs, site, function, label, shared, frame);
    write_frame_row(site_rows(p, fragment), site, function, label, shared);
}

/* Appends the no-operation to OUT, where SUMS and FRAME apply, and writes its code out of line. */
static void write_place(struct planner *p, struct buffer *out, enum frame_site site,
                        uint8_t fragment, const struct event_sums *sums,
                        const struct frame_row *frame) {
    uint32_t label = ++p->state->labels;
    anchor_code(p, out, fragment, *sums);
    write_site(out, label);
    write_far(p, site, fragment, label, false, sums, frame);
}

bool shares_begin(const struct planner *p, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    uint32_t top = p->blocks[index].top;
    if (index != 0 || !wanted(p) || counts_anything(p->state->options) || block->padding ||
        top >= block->count || !code_may_stand(p->graph, block, top) ||
        !is_at_entry(p->graph, index, 0))
        return false;
    return is_plain_push(&p->graph->instructions.data[block->first + top]);
}

void write_shared_begin(struct planner *p, uint32_t label) {
    const struct basic_block *block = &p->graph->blocks.data[0];
    uint32_t top = p->blocks[0].top;
    struct event_sums sums = sums_in_block(p, 0, top, false);
    struct frame_row frame = frame_at(p, &p->graph->instructions.data[block->first + top]);
    write_far(p, FRAME_BEGIN, block->fragment, label, true, &sums, &frame);
}

void insert_frame_begin(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    struct buffer text = {0};
    bool begins = index == 0 && enters_by(graph, block, QUIPU_EDGE_ENTRY);
    if (!wanted(p) || (!begins && !enters_by(graph, block, QUIPU_EDGE_PAD)) ||
        shares_begin(p, index))
        return;
    uint32_t top = p->blocks[index].top;
    bool inside = top < block->count;
    const struct graph_instruction *at =
        inside ? &graph->instructions.data[block->first + top] : last_instruction(graph, block);
    struct frame_row frame = block->padding ? frame_before_padding(p, block) : frame_at(p, at);
    struct event_sums sums = sums_in_block(p, index, top, false);
    write_place(p, &text, begins ? FRAME_BEGIN : FRAME_BACK, block->fragment, &sums, &frame);
    if (begins)
        insert_on_entry(p, index, &text);
    else
        insert_at_top(p, index, &text);
}

/* Returns the instruction of the block before which the function's end is reported: the first of
 * those that free the frame, so that the runtime can still compare the locals; otherwise the last.
 * From there on nothing is stored. */
static uint32_t end_in_block(const struct planner *p, const struct basic_block *block) {
    const struct graph_instruction *first = &p->graph->instructions.data[block->first];
    uint32_t end = block->count - 1;
    for (uint32_t i = end; i-- > 0;) {
        const struct decoded *decoded = first[i].decoded;
        if (decoded->class != CLASS_PLAIN || writes_memory(decoded))
            break;
        struct frame_row frame = frame_at(p, &first[i]);
        if (decoded->registers_written & REGISTER_RSP && code_may_stand(p->graph, block, i) &&
            has_frame_address(&frame))
            end = i;
    }
    return end;
}

void insert_frame_end(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    struct buffer text = {0};
    if (!wanted(p) || block->padding || !edge_away(p, block))
        return;
    uint32_t end = end_in_block(p, block);
    const struct graph_instruction *at = &graph->instructions.data[block->first + end];
    struct frame_row frame = frame_at(p, at);
    struct event_sums sums = sums_in_block(p, index, end, end >= p->blocks[index].counter_at);
    write_place(p, &text, end < block->count - 1 ? FRAME_FREED : FRAME_END, block->fragment, &sums,
                &frame);
    split_block(p, index, end);
    insert_at(p, at, &text);
}

/* The source block of the edge. */
static const struct basic_block *source_of(const struct planner *p, const struct edge *edge) {
    return &p->graph->blocks.data[edge->source - 1];
}

static bool switches_stacks(const struct planner *p, const struct graph_instruction *call) {
    return span_is(find_callee_name(p->graph->unit, statement_of(p, call)), "swapcontext");
}

void insert_frame_back(struct planner *p, struct buffer *out, uint32_t index) {
    (void)out; /* the code is directly behind the call */
    const struct graph *graph = p->graph;
    const struct edge *edge = &graph->edges.data[index];
    struct buffer text = {0};
    if (!wanted(p) || !returns_again(graph, edge))
        return;
    const struct basic_block *source = source_of(p, edge);
    const struct graph_instruction *call = last_instruction(graph, source);
    if (switches_stacks(p, call))
        return;
    struct frame_row frame = frame_at(p, call);
    struct event_sums sums = sums_on_edge(p, index);
    write_place(p, &text, FRAME_BACK, source->fragment, &sums, &frame);
    insert_after(p, call, &text);
}

void write_frame_end_on_edge(struct planner *p, struct buffer *out, uint32_t index) {
    const struct edge *edge = &p->graph->edges.data[index];
    if (!wanted(p) || edge->target != 0 || edge->kind != QUIPU_EDGE_TAKEN)
        return;
    const struct basic_block *source = source_of(p, edge);
    struct frame_row frame = frame_at(p, last_instruction(p->graph, source));
    struct event_sums sums = sums_on_edge(p, index);
    if (out->count)
        buffer_text(out, "; ");
    write_place(p, out, FRAME_END, source->fragment, &sums, &frame);
}
