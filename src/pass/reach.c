/* reach.c: makes jumps long whose targets are far away.
 *
 * A short jump reaches 127 bytes. The assembler begins with short jumps, and lengthens those that
 * do not reach, pass by pass. If an alignment is between a jump and its target, a pass does not
 * take into account what has grown above in the same pass, and the jump waits for a later pass.
 * Inserted code makes many jumps grow. In a section of some megabytes that took a thousand passes
 * (a unit of 15,000 functions: 90 seconds, the twin 7). So quipu makes a jump long if it was long
 * in the original, or if more bytes than a short jump reaches are between it and a target below, or
 * its stub.
 *
 * requires: a plan, all other code written    maintains: everything
 * Not perfect: sizes of inserted code are estimates. If one is too high, a jump is four bytes
 * longer than necessary. If one is too low, the assembler lengthens the jump itself. */
#include "format/notes.h"
#include "pass/plan.h"

enum {
    LONG_JUMP = 5, /* bytes of a long jump, ... */
    LONG_CONDITIONAL = 6,
    ROUNDS = 2 /* a jump that has become long may put others out of reach */
};

void find_positions(struct planner *p) {
    const struct graph *graph = p->graph;
    p->ends = ARENA_ARRAY(graph->arena, uint32_t, graph->text_blocks);
    p->sizes = ARENA_ARRAY(graph->arena, uint32_t, graph->function->fragments.count);
    for (uint32_t i = 0; i < graph->text_blocks; i++) {
        uint32_t *size = &p->sizes[graph->blocks.data[i].fragment];
        *size += grown_size(p, i);
        p->ends[i] = *size;
    }
}

bool ends_fragment(const struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    return index + 1 == graph->text_blocks ||
           graph->blocks.data[index + 1].fragment != graph->blocks.data[index].fragment;
}

uint32_t bytes_to_end(const struct planner *p, uint32_t index) {
    return p->sizes[p->graph->blocks.data[index].fragment] - p->ends[index];
}

/* Whether block TARGET begins further below the end of block INDEX than a short jump reaches. */
static bool is_far_below(const struct planner *p, uint32_t index, uint32_t target) {
    const struct graph *graph = p->graph;
    return target > index + 1 && target < graph->text_blocks &&
           graph->blocks.data[target].fragment == graph->blocks.data[index].fragment &&
           p->ends[target - 1] - p->ends[index] > SHORT_REACH;
}

/* Whether the jump at the block's end, with its present target, must be long. */
static bool goes_far(const struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    if (p->blocks[index].jumps_out_of_line)
        return p->blocks[index].stub_is_far;
    if (last_instruction(graph, block)->decoded->size >= LONG_JUMP)
        return true;
    for (size_t i = 0; i < block->out.count; i++) {
        const struct edge *edge = &graph->edges.data[block->out.data[i]];
        if ((edge->jumps || edge->kind == QUIPU_EDGE_JUMP) && is_block(graph, edge->target))
            return is_far_below(p, index, edge->target - 1);
    }
    return false;
}

/* Whether the jump at the block's end is still the compiler's, except for its target. */
static bool is_own_jump(const struct planner *p, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    const struct graph_instruction *last = last_instruction(p->graph, block);
    if (block->padding || !last || p->placed[index].turned || block->turns_to ||
        last->first_statement != last->statement)
        return false;
    const struct statement *s = statement_of(p, last);
    uint8_t class = last->decoded->class;
    return (class == CLASS_JUMP || class == CLASS_CONDITIONAL) && !s->inline_asm && !s->opaque;
}

/* Chooses jumps to be long, and moves the blocks below them in their fragment down. */
static void choose_jumps(struct planner *p, bool *is_long) {
    const struct graph *graph = p->graph;
    uint8_t *growth = ARENA_ARRAY(graph->arena, uint8_t, graph->text_blocks);
    for (uint32_t i = 0; i < graph->text_blocks; i++) {
        if (is_long[i] || !is_own_jump(p, i) || !goes_far(p, i))
            continue;
        const struct decoded *jump = last_instruction(graph, &graph->blocks.data[i])->decoded;
        uint8_t size = jump->class == CLASS_JUMP ? LONG_JUMP : LONG_CONDITIONAL;
        is_long[i] = true;
        growth[i] = size > jump->size ? size - jump->size : 0; /* it may be longer by a prefix */
    }
    uint32_t moved = 0;
    for (uint32_t i = 0; i < graph->text_blocks; i++) {
        moved += growth[i];
        p->ends[i] += moved;
        if (ends_fragment(p, i))
            moved = 0;
    }
}

void lengthen_jumps(struct planner *p) {
    const struct graph *graph = p->graph;
    bool *is_long = ARENA_ARRAY(graph->arena, bool, graph->text_blocks);
    if (!graph->function->compiled)
        return;
    for (int round = 0; round < ROUNDS; round++)
        choose_jumps(p, is_long);
    for (uint32_t i = 0; i < graph->text_blocks; i++)
        if (is_long[i])
            replace_text(&p->state->edits,
                         statement_of(p, last_instruction(graph, &graph->blocks.data[i]))->start, 0,
                         LONG_JUMP_PREFIX);
}
