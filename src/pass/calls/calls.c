/* calls.c: code at the begins and ends of functions, for the thread's calling context tree.
 *
 * Ball 1994, section 4, counts the events of each call site, with all that it calls, by the values
 * of the counter at the callee's begin and end. Ammons, Ball and Larus 1997 keep these counts for
 * each path of calls. Here the called function does both, in the runtime
 * (runtime/calls/activation.S). Its return address identifies the call site.
 *
 * The counter is exact outside of functions: the potential there is 0. So code is inserted
 *   - at an entry, in front of all additions: what these count belongs to the function,
 *   - at a return or a jump to another function, behind all additions: they have counted the return
 *     by then,
 *   - at other points where control enters, in front of all additions: at landing pads, and behind
 *     calls that return more than once. This code ends the functions that were left without passing
 *     their own ends.
 *   - behind calls of what may not be instrumented: such code may have called back a function here,
 *     and left it by longjmp, or by an exception that it caught itself.
 *
 * Hand-written functions have no such code: their events belong to their callers. Only where one
 * ends that may have switched to another stack, code ends what was left on the old one. The same
 * holds where an entry has no position of its own (entry_edge.c).
 *
 * requires: count_events    maintains: as insert.c
 * Not perfect: an indirect jump that may lead to the function's own labels or to another function
 * does not count as an end. If it leads to an instrumented function, that function ends this one at
 * its begin. Otherwise this one ends when its caller calls or ends. */
#include "format/notes.h"
#include "pass/feature.h"
#include "pass/plan.h"

#include "util/diag.h"
#include "x86/calls.h"
#include "x86/measure.h"

static bool has_code(const struct graph *graph) {
    bool code = graph->function->compiled;
    for (uint32_t i = 0; code && i < graph->text_blocks; i++)
        code = !enters_by(graph, &graph->blocks.data[i], QUIPU_EDGE_ENTRY) ||
               has_entry_position(graph, i);
    return code;
}

static bool wanted(const struct planner *p) {
    return *(const bool *)function_data(p, &calls_feature);
}

static void plan(struct planner *p) {
    bool *code = ARENA_NEW(p->graph->arena, bool);
    *code = has_code(p->graph);
    keep_function_data(p, &calls_feature, code);
}

static bool asks_at_begin(const struct pass_state *state, const struct graph *graph) {
    return !state->options->shared && has_code(graph);
}

static void write_landing(const struct planner *p, struct buffer *out,
                          const struct basic_block *block) {
    struct frame_row frame = block->padding
                                 ? frame_before_padding(p, block)
                                 : frame_at(p, &p->graph->instructions.data[block->first]);
    write_pad(out, &frame);
}

static bool write_block_begin(struct planner *p, struct buffer *out, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    if (!wanted(p))
        return false;
    if (enters_by(p->graph, block, QUIPU_EDGE_ENTRY))
        write_enter(out, !reads_at_begin(p->graph, index, REGISTER_RAX), p->state->options->shared);
    else if (enters_by(p->graph, block, QUIPU_EDGE_PAD))
        write_landing(p, out, block);
    return out->count > 0;
}

/* Writes the end of the function in front of JUMP, which leads to another function. JUMP may read
 * %r11, or lead to a stub that is named after a register. */
static void leave_by(const struct planner *p, const struct graph_instruction *jump,
                     struct buffer *out) {
    bool reads_r11 = jump->decoded->registers_read & REGISTER_R11 ||
                     has_own_convention(p->graph->unit, jump->statement);
    write_leave(out, reads_r11, p->state->options->shared);
}

/* Writes the code for a hand-written function that may end on another stack, if the block ends it:
 * a switch of coroutines also ends with an indirect jump, which leads to a hub. */
static bool write_switch(const struct planner *p, struct buffer *out,
                         const struct basic_block *block) {
    const struct graph_instruction *last = last_instruction(p->graph, block);
    if (!last || !code_may_stand(p->graph, block, block->count - 1) ||
        (last->decoded->class != CLASS_RETURN && last->decoded->class != CLASS_JUMP_INDIRECT))
        return false;
    struct frame_row frame = frame_at(p, last);
    write_arrival(out, &frame);
    return true;
}

static bool write_block_end(struct planner *p, struct buffer *out, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct edge *edge = wanted(p) && !block->padding ? edge_away(p, block) : NULL;
    if (graph->function->switches_stacks)
        return write_switch(p, out, block);
    if (!edge)
        return false;
    const struct graph_instruction *last = last_instruction(graph, block);
    CHECK(!edge->increments.count);
    bool shared = p->state->options->shared;
    if (is_near_return(last->decoded) && !statement_of(p, last)->inline_asm)
        write_return(out, shared);
    else
        leave_by(p, last, out);
    return true;
}

/* ---- checks behind calls ---- */

/* Whether the statement may jump to another function: it names none of its own labels. */
static bool jumps_away(const struct unit *unit, uint32_t number) {
    const struct statement *statement = &unit->statements.data[number];
    uint8_t class = unit->code->decoded[number].class;
    if (statement->kind != STATEMENT_INSTRUCTION ||
        (class != CLASS_JUMP && class != CLASS_JUMP_INDIRECT && class != CLASS_CONDITIONAL))
        return false;
    uint32_t target =
        statement->symbol == NONE ? NONE : unit->symbols.data[statement->symbol].statement;
    return target == NONE || unit->function_of[target] != unit->function_of[number];
}

/* Finds, by function, whether its end ends all activations below it: it returns itself, and lets no
 * other function do so. */
static void find_closed(struct pass_state *state) {
    struct unit *unit = state->unit;
    bool *closed = ARENA_ARRAY(&unit->arena, bool, unit->functions.count);
    for (uint32_t i = 0; i < unit->functions.count; i++)
        closed[i] = unit->functions.data[i].compiled && !unit->functions.data[i].left_alone;
    for (uint32_t s = 0; s < unit->statements.count; s++)
        if (unit->function_of[s] != NONE && jumps_away(unit, s))
            closed[unit->function_of[s]] = false;
    keep_unit_data(state, &calls_feature, closed);
}

/* Whether the call is surely of a function that closes. */
static bool calls_closed(const struct planner *p, const struct graph_instruction *call) {
    const struct unit *unit = p->graph->unit;
    const bool *closed = unit_data(p->state, &calls_feature);
    const struct statement *statement = statement_of(p, call);
    if (call->decoded->class != CLASS_CALL || statement->symbol == NONE)
        return false;
    const struct symbol *symbol = &unit->symbols.data[statement->symbol];
    bool replaceable = symbol->weak || symbol->indirect || symbol->aliased ||
                       (symbol->global && p->state->options->shared);
    uint32_t function = symbol->statement == NONE ? NONE : unit->function_of[symbol->statement];
    return function != NONE && !replaceable && closed[function];
}

/* Whether %r11 and the flags are free behind the call, as the calling convention says. */
static bool is_usual_call(const struct planner *p, const struct basic_block *block,
                          const struct graph_instruction *call) {
    return !statement_of(p, call)->inline_asm && !is_tls_call(p->graph->unit, call->statement) &&
           !has_own_convention(p->graph->unit, call->statement) &&
           !(block->live_out & REGISTER_R11);
}

/* Behind a call of code that may not be instrumented. It may have called back a function here, and
 * then left that by longjmp or an exception which it caught itself. */
static void write_edge_begin(struct planner *p, struct buffer *out, uint32_t index) {
    const struct edge *edge = &p->graph->edges.data[index];
    if (!wanted(p) || edge->kind != QUIPU_EDGE_CALL)
        return;
    const struct basic_block *source = &p->graph->blocks.data[edge->source - 1];
    const struct graph_instruction *call = last_instruction(p->graph, source);
    struct frame_row frame = frame_at(p, call);
    if (returns_again(p->graph, edge)) {
        write_pad(out, &frame);
        return;
    }
    if (!is_usual_call(p, source, call) || calls_closed(p, call))
        return;
    begin_marks(p, source->fragment, sums_on_edge(p, index)); /* insert.c adds the anchor */
    set_counted_line(p, call);
    write_returned(out, &p->context, &frame, p->state->options->shared);
    anchor_marks(p);
}

static void write_edge_end(struct planner *p, struct buffer *out, uint32_t index) {
    const struct edge *edge = &p->graph->edges.data[index];
    if (!wanted(p) || edge->target != 0 || edge->kind != QUIPU_EDGE_TAKEN)
        return;
    const struct basic_block *source = &p->graph->blocks.data[edge->source - 1];
    if (out->count)
        buffer_text(out, "; ");
    leave_by(p, last_instruction(p->graph, source), out);
}

/* Inserts code in front of all that is counted in the block. */
static void insert_begin(struct planner *p, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    struct buffer text = {0}, code = {0};
    if (!write_block_begin(p, &code, index))
        return;
    anchor_code(p, &text, block->fragment, sums_in_block(p, index, p->blocks[index].top, false));
    buffer_add(&text, code.data, code.count);
    buffer_release(&code);
    if (enters_by(p->graph, block, QUIPU_EDGE_ENTRY))
        insert_on_entry(p, index, &text);
    else
        insert_at_top(p, index, &text);
}

/* Inserts code behind all that is counted in the block. */
static void insert_end(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    struct buffer text = {0}, code = {0};
    if (!write_block_end(p, &code, index))
        return;
    anchor_code(p, &text, block->fragment, sums_in_block(p, index, block->count - 1, true));
    buffer_add(&text, code.data, code.count);
    buffer_release(&code);
    split_block(p, index, block->count - 1);
    insert_at(p, last_instruction(graph, block), &text);
}

static bool is_on(const struct pass_options *options) {
    return options->calls;
}

static void declare_symbols(struct pass_state *state) {
    if (state->instrumented)
        write_calls_symbols(&state->tail, state->options->shared);
}

const struct feature calls_feature = {
    .name = "calls",
    .is_on = is_on,
    .begin_unit = find_closed,
    .needs = NEEDS_TAILS | NEEDS_LAYOUT,
    .declare_symbols = declare_symbols,
    .asks_at_begin = asks_at_begin,
    .plan = plan,
    .insert_begin = insert_begin,
    .insert_end = insert_end,
    .write_edge_begin = write_edge_begin,
    .write_edge_end = write_edge_end,
};
