/* tails.c: finds short blocks that end with a return, or with an unconditional jump.
 *
 * Code on a taken edge is out of line, and costs a jump back to the target of the edge. If the
 * target is a tail, a copy of it replaces this jump, and control does not come back. So a detour to
 * the end of a function costs no jump back.
 *
 * Such copies are not in the graph: they are the same block, counted by the same cells.
 *
 * requires: unroll_loops   makes: tail of blocks   maintains: everything */
#include "flow/graph.h"
#include "format/notes.h"

enum {
    TAIL_SIZE_MAX = 32 /* bytes: enough for the ends of most functions */
};

/* Whether the block's text can be copied to another position. */
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

static bool ends_path(const struct graph *graph, const struct basic_block *block) {
    uint8_t class = last_instruction(graph, block)->decoded->class;
    return class == CLASS_RETURN || (class == CLASS_JUMP && has_plain_jump(graph, block));
}

/* Whether an instruction of the block may trap. Some languages turn traps into exceptions, which
 * are caught by the address of the instruction. */
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
                      block->size <= TAIL_SIZE_MAX && ends_path(graph, block) &&
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
