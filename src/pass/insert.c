/* insert.c: inserts the code of all increments.
 *
 * An increment is one instruction on one of the thread's own cells. In executables the base of %gs
 * leads to the cells; otherwise a register holds their address.
 *
 * plan.c decides where. This file writes the text, with copy.c and align.c for loops and stubs.c
 * for code out of line.
 *
 * requires: increments, find_liveness
 * maintains: live registers and flags, the red zone, alignment, unwinding at every instruction
 * breaks: distances between labels. The assembler lengthens short jumps. It cannot lengthen loop
 * and jrcxz, so they get a jump behind them. */
#include "format/notes.h"
#include "pass/feature.h"
#include "pass/plan.h"

#include <string.h>

void split_block(struct planner *p, uint32_t block, uint32_t index) {
    struct placed_block *placed = &p->placed[block];
    size_t at = placed->splits.count;
    while (at > 0 && placed->splits.data[at - 1] > index)
        at--;
    if (index == 0 || (at > 0 && placed->splits.data[at - 1] == index))
        return;
    vector_push(p->graph->arena, &placed->splits, index);
    for (size_t i = placed->splits.count - 1; i > at; i--)
        placed->splits.data[i] = placed->splits.data[i - 1];
    placed->splits.data[at] = index;
}

void insert_at_top(struct planner *p, uint32_t index, struct buffer *text) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    uint32_t top = p->blocks[index].top;
    if (block->padding) {
        insert_before_padding(p, block, text);
    } else if (top < block->count) {
        split_block(p, index, top);
        insert_at(p, &graph->instructions.data[block->first + top], text);
    } else {
        insert_after(p, last_instruction(graph, block), text);
    }
}

bool is_at_entry(const struct graph *graph, uint32_t index, uint32_t instruction) {
    const struct basic_block *block = &graph->blocks.data[index];
    bool entry = index == 0 && graph->function->compiled && enters_once(graph, block);
    for (uint32_t i = 0; i < instruction; i++)
        entry = entry && !graph->instructions.data[block->first + i].decoded->stores;
    return entry;
}

static void insert_block_code(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct block_plan *plan = &p->blocks[index];
    const struct graph_instruction *first = &graph->instructions.data[block->first];
    struct buffer text = {0};
    if (plan->load_at_top) {
        anchor_code(p, &text, block->fragment, sums_in_block(p, index, plan->top, false));
        struct load_place place = {.frame = frame_at(p, &first[plan->top]),
                                   .at_entry = is_at_entry(graph, index, plan->top)};
        set_counted_line(p, &first[plan->top]);
        write_load(&text, &p->context, p->base, &place);
        split_block(p, index, plan->top);
        insert_at(p, &first[plan->top], &text);
        anchor_marks(p);
    }
    if (block->increments.count) {
        bool holds = (plan->holds_at_top || plan->load_at_top) && !plan->killed_above;
        struct clobbers clobbers =
            clobbers_at(p, live_before(graph, block, plan->counter_at), holds,
                        frame_at(p, &first[plan->counter_at]), block->cycle);
        anchor_code(p, &text, block->fragment, sums_in_block(p, index, plan->counter_at, false));
        set_counted_line(p, &first[plan->counter_at]);
        write_increments(&text, &p->context, &block->increments, &clobbers);
        split_block(p, index, plan->counter_at);
        insert_at(p, &first[plan->counter_at], &text);
        anchor_marks(p);
    }
}

/* Inserts code in front of padding that control enters from the outside or a hub, or in front of a
 * gap. The label there stays in front of the counter. A thread may be stopped in the padding, so
 * there is an anchor even if nothing is counted. */
static void insert_padding_code(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    if (!block->countable)
        return;
    struct buffer text = {0};
    anchor_code(p, &text, block->fragment, sums_in_block(p, index, 0, false));
    if (p->blocks[index].load_at_top) {
        struct load_place place = {.frame = frame_before_padding(p, block),
                                   .at_entry = is_at_entry(graph, index, 0)};
        write_load(&text, &p->context, p->base, &place);
        insert_before_padding(p, block, &text);
        anchor_marks(p);
        text = (struct buffer){0};
        anchor_code(p, &text, block->fragment, sums_in_block(p, index, 0, false));
    }
    if (block->increments.count) {
        bool holds = p->blocks[index].holds_at_top || p->blocks[index].load_at_top;
        struct clobbers clobbers =
            clobbers_at(p, block->live_in, holds, frame_before_padding(p, block), block->cycle);
        write_increments(&text, &p->context, &block->increments, &clobbers);
    }
    if (text.count)
        insert_before_padding(p, block, &text);
    anchor_marks(p);
}

static const struct graph_instruction *branch_of(const struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    return last_instruction(graph, &graph->blocks.data[graph->edges.data[index].source - 1]);
}

/* Whether the code on the edge continues with a copy of its target, a tail, instead of a jump. */
static bool copies_tail(const struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct edge *edge = &graph->edges.data[index];
    if (!leads_to_tail(graph, edge) || p->blocks[edge->target - 1].load_at_top)
        return false;
    const struct basic_block *target = &graph->blocks.data[edge->target - 1];
    if (frame_at(p, last_instruction(graph, target)).known !=
        frame_at(p, branch_of(p, index)).known)
        return false;
    for (size_t i = 0; i < target->out.count; i++)
        if (graph->edges.data[target->out.data[i]].increments.count)
            return false;
    return true;
}

/* Writes what follows the code on the edge: a copy of its target, a tail, or a jump to TARGET.
 * Returns the size of the copy, or 0 if there is none. */
static uint32_t write_way_on(struct planner *p, struct buffer *out, uint32_t index,
                             const char *target) {
    const struct graph *graph = p->graph;
    if (!copies_tail(p, index)) {
        buffer_print(out, "jmp %s", target);
        return 0;
    }
    uint32_t tail = graph->edges.data[index].target - 1;
    p->copied = true;
    write_body(p, out, tail);
    write_instruction(p, out, last_instruction(graph, &graph->blocks.data[tail]));
    out->count -= strlen("; ");
    out->data[out->count] = '\0';
    return graph->blocks.data[tail].size;
}

const char *write_taken_stub(struct planner *p, uint32_t edge, struct buffer *code,
                             const char *target) {
    uint32_t label = ++p->state->labels;
    struct frame_row frame = frame_at(p, branch_of(p, edge));
    buffer_text(code, "; ");
    p->tail_size += write_way_on(p, code, edge, target);
    buffer_text(&p->stubs, "; ");
    write_counted_line(p, &p->stubs, branch_of(p, edge));
    buffer_print(&p->stubs, ".LQt%u: ", label);
    write_frame(&p->stubs, &frame, 0);
    buffer_text(&p->stubs, code->data);
    write_frame_end(&p->stubs, &frame);
    buffer_release(code);
    return arena_print(&p->state->unit->arena, ".LQt%u", label);
}

/* Puts the code of a taken edge out of line, and redirects the branch there. */
static void insert_taken_code(struct planner *p, uint32_t edge, struct buffer *code) {
    const struct statement *s = statement_of(p, branch_of(p, edge));
    const struct unit *unit = p->graph->unit;
    const char *end = unit->text + s->end;
    struct span operand = branch_operand(p, s);
    size_t whole = (size_t)(end - operand.start); /* with @PLT */
    replace_text(&p->state->edits, (uint32_t)(operand.start - unit->text), (uint32_t)whole,
                 write_taken_stub(p, edge, code, portable_operand(p, s, operand)));
    uint32_t source = p->graph->edges.data[edge].source - 1;
    p->blocks[source].jumps_out_of_line = true;
    p->blocks[source].stub_is_far = p->context.stubs_are_far;
}

/* Returns the inverted branch if the code of the TAKEN edge may follow the branch directly, or
 * NULL. This is for branches that are taken at least as often as not. The path then has one jump;
 * with code out of line it would have two. */
static const char *turned_condition(const struct planner *p, const struct graph_instruction *branch,
                                    const struct edge *taken) {
    const struct graph *graph = p->graph;
    const struct statement *s = statement_of(p, branch);
    if (branch->first_statement != branch->statement || !is_block(graph, taken->target) ||
        2 * taken->frequency < graph->blocks.data[taken->source - 1].frequency)
        return NULL;
    return inverted_condition(graph->unit->text + s->start, statement_word(graph->unit, s));
}

/* Puts the code of a taken edge directly behind the branch, and inverts the branch. */
static void insert_turned_code(struct planner *p, uint32_t edge, const char *condition,
                               struct buffer *code) {
    const struct graph_instruction *branch = branch_of(p, edge);
    const struct statement *s = statement_of(p, branch);
    uint32_t label = ++p->state->labels;
    struct frame_row frame = frame_at(p, branch);
    struct buffer text = {0};
    buffer_text(code, "; ");
    bool tail = write_way_on(p, code, edge, portable_operand(p, s, branch_operand(p, s))) > 0;
    if (tail)
        write_frame(&text, &frame, 0);
    buffer_text(&text, code->data);
    if (tail) {
        write_line_again(p, &text, branch);
        write_frame_end(&text, &frame);
    }
    buffer_print(&text, "; .LQv%u:", label);
    buffer_release(code);
    replace_text(&p->state->edits, s->start, s->end - s->start,
                 arena_print(&p->state->unit->arena, "%s .LQv%u", condition, label));
    insert_after(p, branch, &text);
}

/* loop and jrcxz reach only 128 bytes. They get a jump close behind them that reaches further. */
static void lengthen_branch(struct planner *p, uint32_t taken, struct buffer *code) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[graph->edges.data[taken].source - 1];
    const struct graph_instruction *branch = last_instruction(graph, block);
    const struct statement *s = statement_of(p, branch);
    struct span operand = branch_operand(p, s);
    size_t whole = (size_t)(graph->unit->text + s->end - operand.start);
    uint32_t label = ++p->state->labels;
    struct buffer text = {0};
    anchor_code(p, &text, block->fragment,
                sums_on_edge(p, block->out.data[block->out.data[0] == taken]));
    buffer_print(&text, "jmp .LQm%u; .LQn%u: ", label, label);
    if (!code->count)
        anchor_code(p, &text, block->fragment, sums_on_edge(p, taken));
    buffer_print(&text, "%s%sjmp %.*s; .LQm%u:", code->count ? code->data : "",
                 code->count ? "; " : "", (int)whole, operand.start, label);
    replace_text(&p->state->edits, (uint32_t)(operand.start - graph->unit->text), (uint32_t)whole,
                 arena_print(&p->state->unit->arena, ".LQn%u", label));
    insert_after(p, branch, &text);
    buffer_release(code);
}

/* Returns the larger of the cycles of both ends of the edge (struct basic_block). 0: an end is in
 * none. */
static uint32_t find_cycle(const struct graph *graph, const struct edge *edge) {
    if (!is_block(graph, edge->source) || !is_block(graph, edge->target))
        return 0;
    uint32_t source = graph->blocks.data[edge->source - 1].cycle;
    uint32_t target = graph->blocks.data[edge->target - 1].cycle;
    return !source || !target ? 0 : source > target ? source : target;
}

void write_edge_increments(struct planner *p, struct buffer *out, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct edge *edge = &graph->edges.data[index];
    if (!edge->increments.count)
        return;
    uint32_t live = is_block(graph, edge->target) ? graph->blocks.data[edge->target - 1].live_in
                                                  : LIVE(REGISTERS_ALL, FLAGS_ALL);
    const struct basic_block *source = &graph->blocks.data[edge->source - 1];
    struct clobbers clobbers =
        clobbers_at(p, live, holds_on_edge(p, index), frame_at(p, last_instruction(graph, source)),
                    find_cycle(graph, edge));
    anchor_code(p, out, source->fragment, sums_on_edge(p, index));
    set_counted_line(p, last_instruction(graph, source));
    write_increments(out, &p->context, &edge->increments, &clobbers);
    anchor_marks(p);
}

/* Whether a branch that is not taken leads to padding. Such padding has no anchor of its own, but a
 * thread may be stopped there. The sums on the edge, which include the branch, apply there too. */
static bool leads_to_padding(const struct graph *graph, const struct edge *edge) {
    return edge->kind == QUIPU_EDGE_NOT_TAKEN && is_block(graph, edge->target) &&
           graph->blocks.data[edge->target - 1].padding;
}

static void insert_edge_code(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct edge *edge = &graph->edges.data[index];
    if (!is_block(graph, edge->source))
        return;
    const struct basic_block *source = &graph->blocks.data[edge->source - 1];
    const struct graph_instruction *last = last_instruction(graph, source);
    struct buffer text = {0}, begin = {0};
    RUN_CODE_HOOKS(p->state, write_edge_begin, p, &begin, index);
    if (begin.count) {
        anchor_code(p, &text, source->fragment, sums_on_edge(p, index));
        buffer_add(&text, begin.data, begin.count);
        if (p->load_on_edge[index] || edge->increments.count)
            buffer_text(&text, "; ");
        buffer_release(&begin);
    }
    if (p->load_on_edge[index]) {
        struct load_place place = {.frame = frame_at(p, last)};
        set_counted_line(p, last);
        anchor_code(p, &text, source->fragment, sums_on_edge(p, index));
        write_load(&text, &p->context, p->base, &place);
        anchor_marks(p);
    }
    if (edge->increments.count && text.count)
        buffer_text(&text, " ");
    write_edge_increments(p, &text, index);
    RUN_CODE_HOOKS(p->state, write_edge_end, p, &text, index);
    if (!text.count && leads_to_padding(graph, edge))
        anchor_code(p, &text, source->fragment, sums_on_edge(p, index));
    const char *condition = edge->kind == QUIPU_EDGE_TAKEN ? turned_condition(p, last, edge) : NULL;
    if (edge->kind == QUIPU_EDGE_TAKEN && last->decoded->class == CLASS_CONDITIONAL_NEAR &&
        p->needs & NEEDS_LAYOUT)
        lengthen_branch(p, index, &text);
    else if (!text.count)
        return;
    else if (edge->kind == QUIPU_EDGE_TAKEN && condition) {
        insert_turned_code(p, index, condition, &text);
        p->placed[edge->source - 1].turned = true;
    } else if (edge->kind == QUIPU_EDGE_TAKEN)
        insert_taken_code(p, index, &text);
    else
        insert_after(p, last, &text);
}

/* Writes a label at each block, and at each position where inserted code divides it. */
static void label_blocks(struct planner *p) {
    const struct graph *graph = p->graph;
    for (size_t i = 0; i < graph->text_blocks; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        struct placed_block *placed = &p->placed[i];
        if (block->padding)
            continue;
        for (uint32_t copy = block->copy; copy; copy = graph->blocks.data[copy - 1].copy)
            p->placed[copy - 1].splits = placed->splits;
        for (size_t s = 0; s <= placed->splits.count; s++) {
            uint32_t at = s ? placed->splits.data[s - 1] : 0, label = ++p->state->labels;
            struct buffer text = {0};
            if (s)
                vector_push(graph->arena, &placed->split_labels, label);
            else
                placed->label = label;
            const struct graph_instruction *instruction =
                &graph->instructions.data[block->first + at];
            buffer_print(&text, ".LQb%u:", label);
            const struct statement *around =
                &graph->unit->statements.data[instruction->first_statement];
            insert_before(&p->state->edits, around,
                          arena_copy(&p->state->unit->arena, text.data, text.count));
            buffer_release(&text);
        }
    }
}

static void label_fragments(struct planner *p, uint32_t number) {
    const struct asm_function *function = p->graph->function;
    for (size_t f = 0; f < function->fragments.count; f++)
        insert_before(&p->state->edits,
                      fragment_label(p->graph->unit, &function->fragments.data[f]),
                      arena_print(&p->state->unit->arena, ".LQf%u_%zu:", number, f));
}

/* Whether the code of a feature makes sure, at the function's entries, that the thread has
 * cells. */
static bool asks_at_begin(const struct pass_state *state, const struct graph *graph) {
    for (size_t i = 0; i < state->on_count; i++)
        if (state->on[i]->asks_at_begin && state->on[i]->asks_at_begin(state, graph))
            return true;
    return false;
}

void insert_increments(struct pass_state *state, const struct graph *graph, uint32_t number) {
    struct planner planner = {.state = state,
                              .graph = graph,
                              .needs = needs_of_features(state),
                              .internal = state->internal[number] || asks_at_begin(state, graph),
                              .place = NONE},
                   *p = &planner;
    p->context =
        (struct code_context){.cells = number,
                              .space = state->options->count ? CELLS_OF_FUNCTION : CELLS_OF_EVENTS,
                              .labels = &state->labels,
                              .stubs = &p->stubs,
                              .tests = &p->tests,
                              .arena = graph->arena,
                              .marks = state->options->events.count ? &p->marks : NULL};
    make_plan(p);
    find_positions(p);
    label_fragments(p, number);
    RUN_HOOKS(state, plan, p);
    for (uint32_t i = 0; i < graph->text_blocks; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        p->context.stubs_are_far = is_stub_far(p, i, 0);
        if (p->needs & NEEDS_LAYOUT)
            keep_in_line(p, i);
        RUN_CODE_HOOKS(state, insert_begin, p, i);
        if (block->padding)
            insert_padding_code(p, i);
        else
            insert_block_code(p, i);
        RUN_CODE_HOOKS(state, insert_inside, p, i);
        RUN_CODE_HOOKS(state, insert_end, p, i);
        if (block->turns_to)
            insert_copies(p, i);
        for (size_t e = 0; e < block->out.count && !block->turns_to; e++)
            insert_edge_code(p, block->out.data[e]);
        place_stubs(p, i);
    }
    if (counts_anything(state->options) || p->needs & NEEDS_LABELS)
        label_blocks(p);
    if (p->needs & NEEDS_LAYOUT)
        lengthen_jumps(p);
    anchor_pieces(p);
    RUN_HOOKS(state, write_note, p, number);
    buffer_release(&p->stubs);
    buffer_release(&p->far_stubs);
    buffer_release(&p->tests);
}
