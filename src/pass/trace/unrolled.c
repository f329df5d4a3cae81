/* unrolled.c: the form that small loops have while no trace is recorded.
 *
 * In a build with moments, small loops are unrolled (flow/unroll.c), so that several iterations
 * share one addition to the counter. Records belong to each iteration, so they stand in the loop as
 * it is. If records are left out until a trace is recorded (site.c), the loop has both forms:
 *
 *     head:      nop                      site: leads to `recorded`
 *     1:         body; jncc exit
 *                body; jncc exit
 *                ...
 *                body; jncc exit
 *                add the iterations
 *                jmp 1b                   site: leads to `recorded`
 *     recorded:  body; jcc head
 *     exit:
 *
 * Both sites are armed with all others. So no thread begins an iteration in the unrolled form from
 * then on, except those few that end the turn that they are in. The graph, and all notes of traces,
 * know the recorded form alone. Rows of a table (QUIPU_SITE_TRACE_COPY) tell which code of the
 * unrolled form is the same, for names of moments.
 *
 * Ticks: no addition is in an iteration. The cell lacks one more tick in each iteration, and gets
 * them where control leaves the loop, or comes back to its begin. So it has the same value behind
 * the loop, and at its begin, as in the recorded form.
 *
 * requires: a plan, choose_records   maintains: as insert.c */
#include "pass/trace/trace.h"

#include "flow/unroll.h"
#include "format/event.h"
#include "pass/pieces.h"
#include "pass/plan.h"

#include <string.h>

/* The unrolled form while it is written. */
struct form {
    struct planner *p;
    const struct unrolled_loop *loop;
    struct buffer *out;
    uint32_t turn;
};

static const struct basic_block *block_of(const struct planner *p, uint32_t index) {
    return vector_at(&p->graph->blocks, index);
}

static bool is_in(const struct loop_text *loop, uint32_t end) {
    return end > loop->first && end <= loop->last + 1;
}

/* ---- ticks ---- */

/* Returns what the cell lacks in block INDEX of iteration TURN of the unrolled form. */
static struct event_sums sums_in_turn(const struct planner *p, const struct unrolled_loop *loop,
                                      uint32_t turn, uint32_t index) {
    struct event_sums sums = sums_in_block(p, loop->text.first, 0, false);
    sums.of[0] += (int32_t)turn + loop->ticks[index - loop->text.first];
    return sums;
}

/* Returns what the cell lacks at the end of EDGE, out of iteration TURN, in front of additions. */
static struct event_sums sums_on_way(const struct planner *p, const struct unrolled_loop *loop,
                                     uint32_t turn, const struct edge *edge) {
    struct event_sums sums = sums_in_turn(p, loop, turn, edge->source - 1);
    sums.of[0] += edge->ticks;
    return sums;
}

/* Returns what must be added there. */
static int32_t amount_on_way(const struct planner *p, const struct unrolled_loop *loop,
                             uint32_t turn, const struct edge *edge) {
    const struct graph *graph = p->graph;
    return sums_on_way(p, loop, turn, edge).of[0] -
           graph->potentials[0][in_node(graph, edge->target)].value;
}

/* Notes the ticks on EDGE, of the loop. Returns false if there are two ways with different ticks,
 * if an iteration does not tick once, or if the cell would have to decrease. */
static bool follow_ticks(const struct planner *p, struct unrolled_loop *loop,
                         const struct edge *edge) {
    int32_t ticks = loop->ticks[edge->source - 1 - loop->text.first] + edge->ticks;
    if (!is_in(&loop->text, edge->target))
        return amount_on_way(p, loop, 0, edge) >= 0;
    int32_t *at = &loop->ticks[edge->target - 1 - loop->text.first];
    if (edge->target == loop->text.first + 1)
        return ticks == 1;
    if (*at < 0)
        *at = ticks;
    return *at == ticks;
}

/* Finds the ticks between the begin of an iteration and each of its blocks, on every way. Returns
 * false if the unrolled form is not possible. */
static bool find_turn_ticks(const struct planner *p, struct unrolled_loop *loop) {
    const struct loop_text *text = &loop->text;
    loop->ticks = ARENA_ARRAY(p->graph->arena, int32_t, text->last - text->first + 1);
    for (uint32_t i = text->first + 1; i <= text->last; i++)
        loop->ticks[i - text->first] = -1;
    for (uint32_t i = text->first; i <= text->last; i++) {
        const struct basic_block *block = block_of(p, i);
        for (size_t e = 0; e < block->out.count && loop->ticks[i - text->first] >= 0; e++)
            if (!follow_ticks(p, loop, vector_at(&p->graph->edges, block->out.data[e])))
                return false;
        if (loop->ticks[i - text->first] < 0) /* no way leads there */
            return false;
    }
    return true;
}

/* ---- the choice ---- */

/* Whether the base holds throughout the loop, or need not hold behind it. */
static bool keeps_base(const struct planner *p, const struct loop_text *loop) {
    bool holds = p->blocks[loop->first].holds_at_top;
    for (uint32_t i = loop->first; i <= loop->last; i++)
        holds = holds && !p->blocks[i].killed_above && !p->blocks[i].killed_below;
    for (uint32_t i = loop->first; i <= loop->last && !holds; i++) {
        const struct basic_block *block = block_of(p, i);
        for (size_t e = 0; e < block->out.count; e++)
            if (holds_on_edge(p, block->out.data[e]))
                return false;
    }
    return true;
}

static bool can_have_both_forms(const struct planner *p, const struct loop_text *loop) {
    const struct basic_block *head = block_of(p, loop->first);
    const struct graph_instruction *first = vector_at(&p->graph->instructions, head->first);
    return !head->padding && first->place == first->first_statement &&
           code_may_stand(p->graph, head, 0) && keeps_base(p, loop);
}

/* Whether ticks are all that is counted, and all other code has a site. */
static bool only_ticks(const struct pass_state *state) {
    const struct pass_options *options = state->options;
    return leaves_records_out(state) && options->events.count == 1 && !options->count &&
           !options->watch && !options->calls;
}

/* Returns the lane of an addition in the recorded form of the loop, which does not run while the
 * unrolled one does. */
static uint8_t lane_in(const struct planner *p, const struct loop_text *text) {
    for (uint32_t i = text->first; i <= text->last; i++) {
        const struct basic_block *block = block_of(p, i);
        if (block->increments.count)
            return block->increments.data[0].lane;
        for (size_t e = 0; e < block->out.count; e++) {
            const struct edge *edge = vector_at(&p->graph->edges, block->out.data[e]);
            if (is_in(text, edge->target) && edge->increments.count)
                return edge->increments.data[0].lane;
        }
    }
    return 0;
}

/* Gives labels to all instructions of the unrolled form, to the ends of its blocks, and to the end
 * of the loop. */
static void give_labels(struct planner *p, struct unrolled_loop *loop) {
    loop->exit = ++p->state->labels;
    loop->labels = p->state->labels + 1;
    for (uint32_t i = loop->text.first; i <= loop->text.last; i++)
        loop->labels_of_turn += block_of(p, i)->count + 1;
    p->state->labels += loop->text.turns * loop->labels_of_turn;
}

void choose_unrolled(struct planner *p, struct trace_records *trace) {
    const struct graph *graph = p->graph;
    uint32_t next = 0;
    if (!only_ticks(p->state) || !graph->function->compiled)
        return;
    for (uint32_t i = 0; i < graph->text_blocks; i++) {
        struct unrolled_loop loop = {0};
        if (!find_loop_text(graph, i, &loop.text) || loop.text.first < next ||
            !can_have_both_forms(p, &loop.text) || !find_turn_ticks(p, &loop))
            continue;
        loop.lane = lane_in(p, &loop.text);
        give_labels(p, &loop);
        vector_push(graph->arena, &trace->loops, loop);
        if (!trace->loop_of)
            trace->loop_of = ARENA_ARRAY(graph->arena, uint32_t, graph->blocks.count);
        trace->loop_of[loop.text.first] = trace->loop_of[i] = (uint32_t)trace->loops.count;
        next = i + 1;
    }
}

/* ---- the text ---- */

/* Returns the label of instruction INSTRUCTION of the block in iteration TURN. */
static uint32_t label_in(const struct planner *p, const struct unrolled_loop *loop, uint32_t turn,
                         uint32_t index, uint32_t instruction) {
    uint32_t label = loop->labels + turn * loop->labels_of_turn + instruction;
    for (uint32_t i = loop->text.first; i < index; i++)
        label += block_of(p, i)->count + 1;
    return label;
}

/* Returns the lane (pass/event/lanes.c) of additions out of the iteration: one that is not near
 * those of the function. */
static uint8_t lane_of_exit(const struct form *form) {
    return (uint8_t)((form->loop->lane + QUIPU_MANY_LANES / 2 + form->turn) % QUIPU_MANY_LANES);
}

/* Writes the additions where EDGE leaves the iteration. */
static void write_additions(const struct form *form, struct buffer *out, uint32_t index) {
    struct planner *p = form->p;
    const struct loop_text *loop = &form->loop->text;
    const struct edge *edge = vector_at(&p->graph->edges, index);
    const struct basic_block *source = block_of(p, edge->source - 1);
    const struct graph_instruction *last = last_instruction(p->graph, source);
    bool back = edge->target == loop->first + 1;
    struct increment increment = {.space = CELLS_OF_EVENTS,
                                  .cell = p->state->options->events.kinds[0]->cell,
                                  .lane = back ? form->loop->lane : lane_of_exit(form),
                                  .amount = back ? (int32_t)loop->turns
                                                 : amount_on_way(p, form->loop, form->turn, edge)};
    if (!increment.amount)
        return;
    increment_list increments = {0};
    vector_push(p->graph->arena, &increments, increment);
    struct clobbers clobbers =
        clobbers_at(p, block_of(p, edge->target - 1)->live_in, p->blocks[loop->first].holds_at_top,
                    frame_at(p, last), back ? loop->turns * source->cycle : 0);
    anchor_code(p, out, source->fragment, sums_on_way(p, form->loop, form->turn, edge));
    set_counted_line(p, last);
    write_increments(out, &p->context, &increments, &clobbers);
    anchor_marks(p);
}

/* Writes the instructions of the block, but for a jump at its end. */
static void write_instructions(const struct form *form, uint32_t index) {
    struct planner *p = form->p;
    const struct basic_block *block = block_of(p, index);
    const struct graph_instruction *first = p->graph->instructions.data + block->first;
    if (block->padding) {
        buffer_print(form->out, ".LQo%u: ", label_in(p, form->loop, form->turn, index, 0));
        return;
    }
    anchor_stretch(p, form->out, index, 0, block->count,
                   sums_in_turn(p, form->loop, form->turn, index));
    for (uint32_t i = 0; i < block->count; i++) {
        buffer_print(form->out, ".LQo%u: ", label_in(p, form->loop, form->turn, index, i));
        write_changes(p, form->out, i ? &first[i - 1] : NULL, &first[i]);
        if (first[i].decoded->class == CLASS_PLAIN)
            write_instruction(p, form->out, &first[i]);
    }
}

/* Names the end of the block, behind its last instruction. */
static void write_block_end(const struct form *form, uint32_t index) {
    const struct basic_block *block = block_of(form->p, index);
    if (!block->padding)
        buffer_print(form->out,
                     ".LQo%u: ", label_in(form->p, form->loop, form->turn, index, block->count));
}

/* Writes a jump along EDGE to TARGET, where additions may be on the way. */
static void write_jump(const struct form *form, struct span mnemonic, const struct edge *edge,
                       const char *target) {
    struct planner *p = form->p;
    uint32_t index = (uint32_t)(edge - p->graph->edges.data);
    struct buffer code = {0};
    if (!is_in(&form->loop->text, edge->target))
        write_additions(form, &code, index);
    const char *prefix = code.count ? LONG_JUMP_PREFIX : "";
    buffer_print(form->out, "%s%.*s %s; ", prefix, (int)mnemonic.length, mnemonic.start,
                 code.count ? write_taken_stub(p, index, &code, target) : target);
}

static struct span mnemonic_of(const struct planner *p, const struct statement *jump) {
    const struct unit *unit = p->graph->unit;
    return (struct span){unit->text + jump->start, statement_word(unit, jump)};
}

/* Writes a block that is not the last of the loop, with its jump. */
static void write_inner(const struct form *form, uint32_t index) {
    struct planner *p = form->p;
    const struct basic_block *block = block_of(p, index);
    const struct graph_instruction *last = last_instruction(p->graph, block);
    write_instructions(form, index);
    if (last && last->decoded->class != CLASS_PLAIN) {
        const struct statement *jump = statement_of(p, last);
        const struct edge *edge = last->decoded->class == CLASS_CONDITIONAL
                                      ? find_edge(p->graph, index, QUIPU_EDGE_TAKEN)
                                      : vector_at(&p->graph->edges, block->out.data[0]);
        struct arena *arena = &p->state->unit->arena;
        const char *target =
            is_in(&form->loop->text, edge->target)
                ? arena_print(arena, ".LQo%u",
                              label_in(p, form->loop, form->turn, edge->target - 1, 0))
                : portable_operand(p, jump, branch_operand(p, jump));
        write_jump(form, mnemonic_of(p, jump), edge, target);
    }
    write_block_end(form, index);
}

/* Writes the way back of the last iteration, and that out of it. */
static void write_last_jump(const struct form *form, struct span inverted, uint32_t back,
                            uint32_t exit) {
    struct planner *p = form->p;
    struct buffer *out = form->out;
    uint32_t label = ++p->state->labels;
    uint8_t fragment = block_of(p, form->loop->text.last)->fragment;
    buffer_print(out, "%.*s .LQv%u; ", (int)inverted.length, inverted.start, label);
    write_block_end(form, form->loop->text.last);
    write_additions(form, out, back);
    buffer_print(out, "; .LQa%u: " LONG_JUMP_PREFIX "jmp .LQo%u; .LQv%u: ", form->loop->sites[1],
                 form->loop->labels, label);
    const struct edge *edge = vector_at(&p->graph->edges, exit);
    anchor_code(p, out, fragment, sums_on_way(p, form->loop, form->turn, edge));
    size_t before = out->count;
    write_additions(form, out, exit);
    buffer_print(out, "%sjmp .LQo%u; ", out->count > before ? "; " : "", form->loop->exit);
}

static void write_turns(struct form *form) {
    struct planner *p = form->p;
    const struct loop_text *loop = &form->loop->text;
    const struct edge *edges = p->graph->edges.data;
    const struct edge *exit = find_edge(p->graph, loop->last, QUIPU_EDGE_NOT_TAKEN);
    const struct edge *back = find_edge(p->graph, loop->last, QUIPU_EDGE_TAKEN);
    const struct statement *jump =
        statement_of(p, last_instruction(p->graph, block_of(p, loop->last)));
    struct span mnemonic = mnemonic_of(p, jump);
    const char *condition = inverted_condition(mnemonic.start, mnemonic.length);
    struct span inverted = {condition, strlen(condition)};
    const char *target = arena_print(&p->state->unit->arena, ".LQo%u", form->loop->exit);
    for (form->turn = 0; form->turn < loop->turns; form->turn++) {
        for (uint32_t i = loop->first; i < loop->last; i++)
            write_inner(form, i);
        write_instructions(form, loop->last);
        if (form->turn + 1 == loop->turns) {
            write_last_jump(form, inverted, (uint32_t)(back - edges), (uint32_t)(exit - edges));
            break;
        }
        write_jump(form, inverted, exit, target);
        write_block_end(form, loop->last);
    }
}

/* Adds the rows of both sites, which lead to the recorded form. */
static void add_sites(struct planner *p, struct trace_records *trace, struct unrolled_loop *loop) {
    for (int i = 0; i < 2; i++) {
        struct trace_site site = {.label = ++p->state->labels,
                                  .kind = TRACE_SITE_LOOP,
                                  .record = 's',
                                  .fragment = block_of(p, loop->text.first)->fragment};
        loop->sites[i] = site.label;
        vector_push(p->graph->arena, &trace->sites, site);
    }
}

static void insert_form(struct planner *p, struct trace_records *trace,
                        struct unrolled_loop *loop) {
    const struct basic_block *head = block_of(p, loop->text.first);
    const struct graph_instruction *first = vector_at(&p->graph->instructions, head->first);
    struct buffer text = {0};
    struct form form = {.p = p, .loop = loop, .out = &text};
    bool were_far = p->context.stubs_are_far;
    size_t stubs = p->stubs.count;
    p->context.stubs_are_far = true;
    add_sites(p, trace, loop);
    anchor_code(p, &text, head->fragment, sums_in_turn(p, loop, 0, loop->text.first));
    write_trace_place(&text, loop->sites[0]);
    buffer_text(&text, " ");
    write_turns(&form);
    buffer_print(&text, ".LQs%u: .LQs%u:", loop->sites[0], loop->sites[1]);
    write_line_again(p, &text, first);
    insert_at(p, first, &text);
    p->context.stubs_are_far = were_far;
    /* What is out of line is behind the fragment: it is not in the loop. */
    buffer_add(&p->far_stubs, p->stubs.data + stubs, p->stubs.count - stubs);
    p->stubs.count = stubs;
    p->copied = true;
}

/* Returns the loop that block INDEX begins or ends, or NULL. */
static struct unrolled_loop *loop_at(const struct trace_records *trace, uint32_t index) {
    uint32_t number = trace->loop_of ? trace->loop_of[index] : 0;
    return number ? vector_at(&trace->loops, number - 1) : NULL;
}

void insert_unrolled(struct planner *p, struct trace_records *trace, uint32_t index) {
    struct unrolled_loop *loop = loop_at(trace, index);
    if (loop && loop->text.first == index)
        insert_form(p, trace, loop);
}

void end_unrolled(struct planner *p, const struct trace_records *trace, struct buffer *out,
                  uint32_t index) {
    const struct graph *graph = p->graph;
    const struct edge *edge = vector_at(&graph->edges, index);
    const struct unrolled_loop *loop = loop_at(trace, edge->source - 1);
    if (!loop || edge->source != loop->text.last + 1 || edge->kind != QUIPU_EDGE_NOT_TAKEN)
        return;
    struct event_sums sums = {0};
    sums.of[0] = graph->potentials[0][in_node(graph, edge->target)].value;
    buffer_text(out, out->count ? "; " : "");
    anchor_code(p, out, block_of(p, loop->text.last)->fragment, sums);
    buffer_print(out, ".LQo%u:", loop->exit);
}

/* Writes a row for each piece of the loop, in each iteration. */
static void write_rows_of(struct planner *p, const struct unrolled_loop *loop) {
    for (uint32_t i = loop->text.first; i <= loop->text.last; i++) {
        const struct basic_block *block = block_of(p, i);
        for (size_t n = 0; !block->padding && n <= p->placed[i].splits.count; n++) {
            struct piece piece = piece_at(p->graph, block, &p->placed[i], n);
            for (uint32_t turn = 0; turn < loop->text.turns; turn++)
                write_trace_copy_row(&p->state->tail, piece.label,
                                     label_in(p, loop, turn, i, piece.from),
                                     label_in(p, loop, turn, i, piece.to));
        }
    }
}

void write_unrolled_rows(struct planner *p, const struct trace_records *trace, size_t fragment) {
    for (size_t i = 0; i < trace->loops.count; i++)
        if (block_of(p, trace->loops.data[i].text.first)->fragment == fragment)
            write_rows_of(p, &trace->loops.data[i]);
}
