/* align.c: keeps small code in loops within one line of fetched code.
 *
 * The compiler aligned the code as it was. Counters move it. A loop that now crosses a line of
 * fetched code runs much slower (an interpreter's dispatch: 1.7 times). So where the compiler
 * aligned code in a loop, and the code is shorter than a line, quipu keeps it within one line.
 *
 * A Zen 4 predicts two branches of one line in each cycle. A search with two branches in each
 * iteration, one cycle each, takes a fifth longer if a line has an odd number of them. So unrolled
 * loops of several blocks begin on a new line.
 *
 * requires: a plan    maintains: everything; the new padding belongs to no block
 * Not perfect: sizes are estimates. A wrong one costs a crossed line, or a few bytes. */
#include "pass/plan.h"

enum {
    FETCH_LINE = 64
};

uint32_t grown_size(const struct planner *p, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    uint32_t size = block->size + increments_size(&block->increments, p->base);
    for (size_t i = 0; i < block->out.count; i++) {
        const struct edge *edge = &p->graph->edges.data[block->out.data[i]];
        size += edge->jumps ? 0 : increments_size(&edge->increments, p->base);
    }
    if (block->copy)
        size += grown_size(p, block->copy - 1);
    return size;
}

static bool goes_to(const struct planner *p, uint32_t from, uint32_t to) {
    const struct basic_block *block = &p->graph->blocks.data[from];
    for (size_t i = 0; i < block->out.count; i++)
        if (p->graph->edges.data[block->out.data[i]].target == to + 1)
            return true;
    return false;
}

/* Returns the estimated bytes of the code that runs from the block's top: to the jump back to it,
 * to the end of an unrolled loop, or to the first block that does not fall through. If that is more
 * than a line, returns the size of the block alone. */
static uint32_t run_size(const struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    uint32_t size = 0;
    for (uint32_t i = index; i < graph->text_blocks; i++) {
        size += grown_size(p, i);
        if (size > FETCH_LINE)
            return grown_size(p, index);
        if (graph->blocks.data[i].turns_to || goes_to(p, i, index) || !goes_to(p, i, i + 1))
            return size;
    }
    return size;
}

/* Whether block INDEX is the first of an unrolled loop of several blocks. */
static bool begins_turns(const struct graph *graph, uint32_t index) {
    uint32_t last = index;
    if (!graph->blocks.data[index].copy)
        return false;
    while (!graph->blocks.data[last].turns_to)
        last++;
    return last != index && graph->blocks.data[last].turns_to == index + 1;
}

void keep_in_line(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    if (block->aligned_by == NONE || block->padding || !block->loop_depth ||
        p->blocks[index].runs_copied)
        return;
    uint32_t size = begins_turns(graph, index) ? FETCH_LINE : run_size(p, index);
    if (size < 2 || size > FETCH_LINE)
        return;
    insert_behind(&p->state->edits, &graph->unit->statements.data[block->aligned_by],
                  arena_print(&p->state->unit->arena, ".p2align 6,,%u", size - 1));
}
