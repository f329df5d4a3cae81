/* tails.c: short blocks that end the way: by a return, or by a jump that is always taken.
 *
 * Code on a taken edge stands out of line, and costs a jump back to the edge's target.  Where that
 * is a tail, a copy of it takes the jump's place, and control does not come back.  So a detour that
 * leads to a function's end is no detour.
 *
 * The graph knows nothing of such copies: they are the same block, counted by the same cells.
 *
 * requires: unroll_loops    makes: tail of blocks    maintains: everything */
#include "flow/graph.h"
#include "format/notes.h"

enum {
    TAIL_SIZE_MAX = 32 /* bytes: most functions' ends */
};

/* Whether the block's text can stand elsewhere. */
static bool is_movable(const struct graph *graph, const struct basic_block *block) {
    const struct unit *unit = graph->unit;
    uint32_t from = graph->instructions.data[block->first].first_statement;
    for (uint32_t s = from; s <= last_instruction(graph, block)->statement; s++) {
        const struct statement *statement = &unit->statements.data[s];
        if (statement->aligns || statement->data || statement->opaque || statement->intel ||
            statement->inline_asm || statement->section != unit->statements.data[from].section)
            return false;
    }
    return true;
}

static bool ends_the_way(const struct graph *graph, const struct basic_block *block) {
    uint8_t class = last_instruction(graph, block)->decoded->class;
    return class == CLASS_RETURN || (class == CLASS_JUMP && has_plain_jump(graph, block));
}

/* Exceptions of traps, which some languages have, are caught by where the instruction stands. */
static bool may_trap(const struct graph *graph, const struct basic_block *block) {
    for (uint32_t i = 0; i < block->count; i++)
        if (graph->instructions.data[block->first + i].decoded->traps)
            return true;
    return false;
}

static bool catches(const struct graph *graph) {
    for (size_t i = 0; i < graph->edges.count; i++)
        if (graph->edges.data[i].kind == QUIPU_EDGE_PAD)
            return true;
    return false;
}

void find_tails(struct graph *graph) {
    bool catching = catches(graph);
    for (uint32_t i = 0; graph->function->compiled && i < graph->text_blocks; i++) {
        struct basic_block *block = &graph->blocks.data[i];
        block->tail = !block->padding && !block->copy && !block->turns_to &&
                      block->size <= TAIL_SIZE_MAX && ends_the_way(graph, block) &&
                      is_movable(graph, block) && !is_entered_from_outside(graph, block) &&
                      !(catching && may_trap(graph, block));
    }
}

bool leads_to_tail(const struct graph *graph, const struct edge *edge) {
    if (!is_block(graph, edge->source) || !is_block(graph, edge->target))
        return false;
    const struct basic_block *target = &graph->blocks.data[edge->target - 1];
    return target->tail && target->fragment == graph->blocks.data[edge->source - 1].fragment;
}
