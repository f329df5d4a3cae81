/* entry_edge.c: where code runs once for each call of the function.
 *
 * Mostly that is in front of the first block. But the first instruction may be the head of a loop.
 * Code in front of it would then run in each iteration, and what it calls would write over the red
 * zone, which the loop may use. So the code is between the function's label and the loop's label.
 *
 * maintains: as insert.c
 * Not perfect: if the loop jumps to the function's own label, there is no such position. The same
 * holds for an entry in the middle of a function that is the head of a loop. */
#include "pass/plan.h"

/* Whether a jump of the function leads to the symbol's label, in front of BLOCK. */
static bool is_reached(const struct graph *graph, const struct basic_block *block,
                       uint32_t symbol) {
    const struct symbol *target = &graph->unit->symbols.data[symbol];
    if (target->address_taken && !target->function)
        return true;
    for (size_t i = 0; i < block->in.count; i++) {
        const struct edge *edge = &graph->edges.data[block->in.data[i]];
        if (!is_block(graph, edge->source))
            continue;
        const struct graph_instruction *last =
            last_instruction(graph, &graph->blocks.data[edge->source - 1]);
        if (last && graph->unit->statements.data[last->statement].symbol == symbol)
            return true;
    }
    return false;
}

/* Returns the label of the loop whose head is the function's first instruction, or NONE if the
 * function's own label is the loop's. */
static uint32_t find_loop_label(const struct graph *graph) {
    const struct unit *unit = graph->unit;
    const struct basic_block *block = &graph->blocks.data[0];
    const struct fragment *fragment = &graph->function->fragments.data[0];
    const uint32_t *list = unit->sections.data[fragment->section].statements.data;
    uint32_t instruction = graph->instructions.data[block->first].first_statement, found = NONE;
    for (uint32_t i = fragment->first; i < fragment->last && list[i] != instruction; i++) {
        const struct statement *s = &unit->statements.data[list[i]];
        if (s->kind != STATEMENT_LABEL)
            continue;
        const struct symbol *symbol = &unit->symbols.data[s->symbol];
        if (found == NONE && is_reached(graph, block, s->symbol))
            found = list[i];
        if (found != NONE && (symbol->function || symbol->global || symbol->outside_entry))
            return NONE;
    }
    return found;
}

/* Returns the label in front of which code is on the entry's edge alone, or NONE. */
static uint32_t find_position(const struct graph *graph, uint32_t index) {
    const struct basic_block *block = &graph->blocks.data[index];
    if (index != 0 || !block->count || block->closed)
        return NONE;
    const struct graph_instruction *first = &graph->instructions.data[block->first];
    const uint32_t *row_of = graph->index->row_of;
    uint32_t label = find_loop_label(graph);
    return label != NONE && row_of[label] == row_of[first->first_statement] ? label : NONE;
}

bool has_entry_position(const struct graph *graph, uint32_t index) {
    return enters_once(graph, &graph->blocks.data[index]) || find_position(graph, index) != NONE;
}

void insert_on_entry(struct planner *p, uint32_t index, struct buffer *text) {
    bool once = enters_once(p->graph, &p->graph->blocks.data[index]);
    uint32_t label = once ? NONE : find_position(p->graph, index);
    if (label == NONE)
        insert_at_top(p, index, text);
    else
        insert_before_label(p, label, text);
}
