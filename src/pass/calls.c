/* calls.c: where functions begin and end, for the thread's calling context tree.
 *
 * Ball 1994, section 4, counts the events of each call site with all that it calls by what the
 * counter is at the callee's begin and end; Ammons, Ball and Larus 1997 keep that by the whole way
 * of calls.  Here the function that is called does both, in the runtime
 * (runtime/calls/activation.S): what it was called from is its return address.
 *
 * The counter is exact outside of functions, and its node's potential is 0 there.  So code stands
 *   - at an entry, in front of all additions: what is counted there, is so in the function,
 *   - at a return or a jump to another function, behind all additions: they have counted the return
 *     by then,
 *   - where control comes in otherwise: landing pads, and behind calls that return once more, in
 *     front of all additions.  Functions that were left without their own ends are ended there.
 *
 * Hand-written functions have no code: what they do belongs to those that call them.
 *
 * requires: count_events    maintains: as insert.c
 * Not perfect: an indirect jump that may go to the function's own labels, or to another function,
 * is not taken for an end.  If it goes to a function that is instrumented, that one ends this one
 * at its begin; else this one ends when its caller calls or ends. */
#include "format/notes.h"
#include "pass/plan.h"

#include "util/diag.h"
#include "x86/context.h"

static bool tells_calls(const struct pass_state *state, const struct graph *graph) {
    return state->options->calls && graph->function->compiled;
}

static bool wanted(const struct planner *p) {
    return tells_calls(p->state, p->graph);
}

bool asks_at_begin(const struct pass_state *state, const struct graph *graph) {
    return tells_calls(state, graph) && !state->options->shared;
}

bool enters_by(const struct planner *p, const struct basic_block *block,
               enum quipu_edge_kind kind) {
    for (size_t i = 0; i < block->in.count; i++)
        if (p->graph->edges.data[block->in.data[i]].kind == kind)
            return true;
    return false;
}

static void write_landing(const struct planner *p, struct buffer *out,
                          const struct basic_block *block) {
    struct frame_row frame = block->padding
                                 ? frame_before_padding(p, block)
                                 : frame_at(p, &p->graph->instructions.data[block->first]);
    write_pad(out, &frame);
}

bool write_block_begin(struct planner *p, struct buffer *out, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    if (!wanted(p))
        return false;
    if (enters_by(p, block, QUIPU_EDGE_ENTRY))
        write_enter(out, !reads_at_begin(p->graph, index, REGISTER_RAX), p->state->options->shared);
    else if (enters_by(p, block, QUIPU_EDGE_PAD))
        write_landing(p, out, block);
    return out->count > 0;
}

const struct edge *edge_away(const struct planner *p, const struct basic_block *block) {
    for (size_t i = 0; i < block->out.count; i++) {
        const struct edge *edge = &p->graph->edges.data[block->out.data[i]];
        if (edge->target == 0 && !edge->stays &&
            (edge->kind == QUIPU_EDGE_RETURN || edge->kind == QUIPU_EDGE_TAIL))
            return edge;
    }
    return NULL;
}

/* JUMP goes to another function, perhaps by a register, or by a stub that is named after one. */
static void leave_by(const struct planner *p, const struct graph_instruction *jump,
                     struct buffer *out) {
    bool reads_r11 = jump->decoded->registers_read & REGISTER_R11 ||
                     has_own_convention(p->graph->unit, jump->statement);
    write_leave(out, reads_r11, p->state->options->shared);
}

bool write_block_end(struct planner *p, struct buffer *out, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct edge *edge = wanted(p) && !block->padding ? edge_away(p, block) : NULL;
    if (!edge)
        return false;
    CHECK(!edge->increments.count);
    const struct graph_instruction *last = last_instruction(graph, block);
    bool shared = p->state->options->shared;
    if (is_near_return(last->decoded) && !statement_of(p, last)->inline_asm)
        write_return(out, shared);
    else
        leave_by(p, last, out);
    return true;
}

void write_edge_begin(struct planner *p, struct buffer *out, uint32_t index) {
    const struct edge *edge = &p->graph->edges.data[index];
    if (!wanted(p) || !returns_again(p->graph, edge))
        return;
    const struct basic_block *source = &p->graph->blocks.data[edge->source - 1];
    struct frame_row frame = frame_at(p, last_instruction(p->graph, source));
    write_pad(out, &frame);
}

void write_edge_end(struct planner *p, struct buffer *out, uint32_t index) {
    const struct edge *edge = &p->graph->edges.data[index];
    if (!wanted(p) || edge->target != 0 || edge->kind != QUIPU_EDGE_TAKEN)
        return;
    const struct basic_block *source = &p->graph->blocks.data[edge->source - 1];
    if (out->count)
        buffer_text(out, "; ");
    leave_by(p, last_instruction(p->graph, source), out);
}
