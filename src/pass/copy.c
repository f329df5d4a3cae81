/* copy.c: copies of text: tails, by write_body, and unrolled loops.
 *
 *     head: body; jcc head          head: body; jncc exit
 *     exit:                               body; jncc exit
 *                                         body; jcc head
 *                                   exit:
 *
 * flow/unroll.c gives the reason, and has put the copies into the graph.
 *
 * requires: a plan    maintains: as insert.c */
#include "pass/plan.h"

#include <string.h>

/* Writes a jump along the edge: to TARGET, or to a stub that counts and then jumps to TARGET.
 * IS_FAR: a short jump does not reach the stub. */
static void write_jump(struct planner *p, struct buffer *out, struct span mnemonic, uint32_t edge,
                       const char *target, bool is_far) {
    struct buffer code = {0};
    write_edge_increments(p, &code, edge);
    const char *prefix = code.count && is_far ? LONG_JUMP_PREFIX : "";
    buffer_print(out, "%s%.*s %s", prefix, (int)mnemonic.length, mnemonic.start,
                 code.count ? write_taken_stub(p, edge, &code, target) : target);
}

void write_body(struct planner *p, struct buffer *out, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *copy = &graph->blocks.data[index];
    const struct block_plan *plan = &p->blocks[index];
    const struct graph_instruction *first = &graph->instructions.data[copy->first];
    uint32_t counter_at = copy->increments.count ? plan->counter_at : copy->count;
    anchor_instructions(p, out, index, 0, counter_at, false);
    for (uint32_t i = 0; i < copy->count; i++) {
        if (i == counter_at) {
            struct clobbers clobbers = clobbers_at(p, live_before(graph, copy, i),
                                                   plan->holds_at_top && !plan->killed_above,
                                                   frame_at(p, &first[i]), copy->cycle);
            anchor_code(p, out, copy->fragment, sums_in_block(p, index, counter_at, false));
            set_counted_line(p, &first[i]);
            write_increments(out, &p->context, &copy->increments, &clobbers);
            buffer_text(out, "; ");
            anchor_marks(p);
            anchor_instructions(p, out, index, counter_at, copy->count, true);
        }
        write_changes(p, out, i ? &first[i - 1] : NULL, &first[i]);
        if (first[i].decoded->class == CLASS_PLAIN)
            write_instruction(p, out, &first[i]);
    }
}

/* Sets *JUMPS to the edge out of BLOCK that its jump takes, and *FALLS to the one that falls
 * through. */
static void sort_ways(const struct graph *graph, const struct basic_block *block, uint32_t *jumps,
                      uint32_t *falls) {
    bool first = graph->edges.data[block->out.data[0]].jumps;
    *jumps = block->out.data[!first];
    *falls = block->out.data[first];
}

/* Writes the increments of edge INDEX, which falls through. */
static void write_fall(struct planner *p, struct buffer *out, uint32_t index) {
    size_t before = out->count;
    write_edge_increments(p, out, index);
    if (out->count > before)
        buffer_text(out, "; ");
}

static struct span mnemonic_of(const struct planner *p, const struct statement *jump) {
    const struct unit *unit = p->graph->unit;
    return (struct span){unit->text + jump->start, statement_word(unit, jump)};
}

/* The copies of the loop's blocks for one iteration, and the first of their labels. */
struct turn {
    uint32_t first, count;
    uint32_t labels;
    bool stubs_are_far; /* a short jump does not reach their stubs */
};

/* Returns the target of a jump in the iteration: a copy, or the original operand. */
static const char *turn_target(struct planner *p, const struct turn *turn, uint32_t index,
                               const struct statement *jump) {
    struct arena *arena = &p->state->unit->arena;
    uint32_t target = p->graph->edges.data[index].target - 1;
    if (target >= turn->first && target < turn->first + turn->count)
        return arena_print(arena, ".LQo%u", turn->labels + target - turn->first);
    struct span operand = branch_operand(p, jump);
    return arena_copy(arena, operand.start, operand.length);
}

/* Writes the copy of a block that is not the last of the loop, with its jump. */
static void write_inner(struct planner *p, struct buffer *out, const struct turn *turn,
                        uint32_t index) {
    const struct basic_block *copy = &p->graph->blocks.data[index];
    const struct graph_instruction *last = last_instruction(p->graph, copy);
    buffer_print(out, ".LQo%u: ", turn->labels + index - turn->first);
    write_body(p, out, index);
    if (!last || last->decoded->class == CLASS_PLAIN)
        return;
    const struct statement *jump = statement_of(p, last);
    struct span mnemonic = mnemonic_of(p, jump);
    bool conditional = last->decoded->class == CLASS_CONDITIONAL;
    uint32_t jumps = copy->out.data[0], falls = 0;
    if (conditional)
        sort_ways(p->graph, copy, &jumps, &falls);
    write_jump(p, out, mnemonic, jumps, turn_target(p, turn, jumps, jump), turn->stubs_are_far);
    buffer_text(out, "; ");
    if (conditional)
        write_fall(p, out, falls);
}

/* Writes the backward jump of the last iteration. The increments on it follow directly, because
 * most iterations are followed by another one. */
static void write_last_jump(struct planner *p, struct buffer *out, uint32_t index,
                            struct span mnemonic, const char *head) {
    struct buffer code = {0};
    write_edge_increments(p, &code, index);
    if (code.count)
        buffer_print(out, "%s .LQv%u; %s; jmp %s; .LQv%u: ",
                     inverted_condition(mnemonic.start, mnemonic.length), p->state->labels + 1,
                     code.data, head, p->state->labels + 1);
    else
        buffer_print(out, "%.*s %s; ", (int)mnemonic.length, mnemonic.start, head);
    p->state->labels += code.count > 0;
    buffer_release(&code);
}

/* Returns the estimated bytes of all copies of blocks FIRST to INDEX. */
static uint32_t copies_size(const struct planner *p, uint32_t first, uint32_t index) {
    uint32_t size = 0;
    for (uint32_t i = first; i <= index; i++)
        if (p->graph->blocks.data[i].copy)
            size += grown_size(p, p->graph->blocks.data[i].copy - 1);
    return size;
}

void insert_copies(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    struct arena *arena = &p->state->unit->arena;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct statement *jump = statement_of(p, last_instruction(graph, block));
    struct span mnemonic = mnemonic_of(p, jump), operand = branch_operand(p, jump);
    const char *condition = inverted_condition(mnemonic.start, mnemonic.length);
    struct span inverted = {condition, (uint32_t)strlen(condition)};
    const char *exit = arena_print(arena, ".LQo%u", ++p->state->labels);
    const char *head = arena_copy(arena, operand.start, operand.length);
    uint32_t first = block->turns_to - 1, inner = index - first, jumps, falls;
    uint32_t ahead = copies_size(p, first, index);
    struct buffer text = {0}, turned = {0};
    sort_ways(graph, block, &jumps, &falls);
    p->placed[index].turned = true;
    write_jump(p, &turned, inverted, jumps, exit, is_stub_far(p, index, ahead));
    replace_text(&p->state->edits, jump->start, jump->end - jump->start,
                 arena_copy(arena, turned.data, turned.count));
    buffer_release(&turned);
    for (uint32_t copy = graph->blocks.data[first].copy; copy;
         copy = graph->blocks.data[copy - 1].copy) {
        ahead = copies_size(p, copy - 1, copy - 1 + inner);
        struct turn turn = {copy - 1, inner + 1, p->state->labels + 1,
                            is_stub_far(p, index, ahead)};
        p->state->labels += turn.count;
        write_fall(p, &text, falls);
        for (uint32_t i = 0; i < inner; i++)
            write_inner(p, &text, &turn, turn.first + i);
        buffer_print(&text, ".LQo%u: ", turn.labels + inner);
        write_body(p, &text, turn.first + inner);
        block = &graph->blocks.data[turn.first + inner];
        sort_ways(graph, block, &jumps, &falls);
        if (block->copy) {
            write_jump(p, &text, inverted, jumps, exit, turn.stubs_are_far);
            buffer_text(&text, "; ");
        } else {
            write_last_jump(p, &text, jumps, mnemonic, head);
        }
    }
    write_fall(p, &text, falls);
    write_line_again(p, &text, last_instruction(graph, &graph->blocks.data[index]));
    buffer_print(&text, "; %s:", exit);
    insert_after(p, last_instruction(graph, &graph->blocks.data[index]), &text);
}
