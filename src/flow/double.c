/* double.c: small loops that store are turned twice for one counter.
 *
 * A counter is a store.  A loop whose only work is to store runs at the speed of the store queue,
 * and one store more in each turn slows it down by a third (a sieve: 1.35 times; doubled, 1.07). So
 * the loop's block gets a copy behind it, with its jump turned round:
 *
 *     head: body; jcc head          head: body; jncc exit
 *     exit:                               body; jcc head
 *                                   exit:
 *
 * In the graph the copy is a block like any other, so the spanning tree puts one counter on the two
 * turns, and what each exit adds follows.  Readers add the copy's counts to the block's.
 *
 * requires: find_frequencies    makes: copies behind the blocks, their edges and frequencies
 * maintains: all other facts    breaks: ends that name hubs (renumbered here) */
#include "flow/graph.h"

#include "x86/sequence.h"

/* A copy of more than that costs more in fetching than it saves. */
enum {
    DOUBLED_SIZE_MAX = 48
};

/* The counter had better stand at the head: between the loop's own stores it keeps the processor
 * from joining them (the sieve again: 1.27 times there, 1.05 at the head). */
static const double COPY_SHARE = 1.01;

/* The edge by which BLOCK goes back to itself, or NULL where it is no loop of one block with one
 * way out. */
static struct edge *find_turn(const struct graph *graph, uint32_t index) {
    const struct basic_block *block = &graph->blocks.data[index];
    struct edge *turn = NULL, *way_out = NULL;
    for (size_t i = 0; i < block->out.count; i++) {
        struct edge *edge = &graph->edges.data[block->out.data[i]];
        if (edge->kind == QUIPU_EDGE_TAKEN && edge->target == index + 1)
            turn = edge;
        else if (edge->kind == QUIPU_EDGE_NOT_TAKEN && is_block(graph, edge->target))
            way_out = edge;
    }
    return turn && way_out && block->out.count == 2 ? turn : NULL;
}

static bool stores(const struct graph *graph, const struct basic_block *block) {
    for (uint32_t i = 0; i < block->count; i++)
        if (graph->instructions.data[block->first + i].decoded->stores)
            return true;
    return false;
}

/* Whether the block's text is instructions, and labels that no one jumps to, and nothing else. */
static bool is_copyable(const struct graph *graph, const struct basic_block *block) {
    const struct unit *unit = graph->unit;
    const struct graph_instruction *last = last_instruction(graph, block);
    const struct statement *jump = &unit->statements.data[last->statement];
    uint32_t first = graph->instructions.data[block->first].first_statement;
    if (last->decoded->class != CLASS_CONDITIONAL || jump->symbol == NONE ||
        !unit->symbols.data[jump->symbol].local ||
        unit->symbols.data[jump->symbol].name[0] != '.' ||
        !inverted_condition(unit->text + jump->start, statement_word(unit, jump)))
        return false;
    for (uint32_t s = first; s <= last->statement; s++) {
        const struct statement *statement = &unit->statements.data[s];
        bool plain =
            statement->kind == STATEMENT_INSTRUCTION ||
            (statement->kind == STATEMENT_LABEL && unit->symbols.data[statement->symbol].local);
        if (!plain || statement->inline_asm || statement->intel || statement->opaque ||
            statement->section != jump->section)
            return false;
    }
    return true;
}

static bool is_worth_doubling(const struct graph *graph, uint32_t index) {
    const struct basic_block *block = &graph->blocks.data[index];
    return !block->padding && block->size <= DOUBLED_SIZE_MAX && find_turn(graph, index) &&
           stores(graph, block) && is_copyable(graph, block);
}

static void remove_index(index_list *list, uint32_t index) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->data[i] != index)
            list->data[kept++] = list->data[i];
    list->count = kept;
}

static uint32_t add_copy_edge(struct graph *graph, struct edge edge) {
    uint32_t index = (uint32_t)graph->edges.count;
    vector_push(graph->arena, &graph->edges, edge);
    vector_push(graph->arena, &graph->blocks.data[edge.source - 1].out, index);
    vector_push(graph->arena, &graph->blocks.data[edge.target - 1].in, index);
    return index;
}

static void double_block(struct graph *graph, uint32_t index) {
    struct basic_block *block = &graph->blocks.data[index];
    uint32_t copy_index = (uint32_t)graph->blocks.count;
    struct basic_block copy = *block;
    copy.in = copy.out = (index_list){0};
    copy.copy_of = index + 1;
    copy.aligned_by = NONE;
    block->frequency /= 2;
    copy.frequency = block->frequency * COPY_SHARE;
    block->copy = copy_index + 1;
    uint32_t turn = (uint32_t)(find_turn(graph, index) - graph->edges.data);
    uint32_t way_out = block->out.data[block->out.data[0] == turn];
    vector_push(graph->arena, &graph->blocks, copy);
    block = &graph->blocks.data[index];

    /* block -> copy falls, block -> exit jumps, copy -> block jumps, copy -> exit falls */
    struct edge back = graph->edges.data[turn], leave = graph->edges.data[way_out];
    back.frequency /= 2;
    leave.frequency /= 2;
    graph->edges.data[turn] = back;
    graph->edges.data[turn].target = copy_index + 1;
    graph->edges.data[turn].jumps = false;
    remove_index(&block->in, turn);
    vector_push(graph->arena, &graph->blocks.data[copy_index].in, turn);
    graph->edges.data[way_out] = leave;
    graph->edges.data[way_out].jumps = true;
    back.source = leave.source = copy_index + 1;
    add_copy_edge(graph, back);
    add_copy_edge(graph, leave);
}

/* Hubs are numbered behind all blocks. */
static void move_hubs(struct graph *graph, uint32_t copies) {
    for (size_t i = 0; i < graph->edges.count; i++) {
        struct edge *edge = &graph->edges.data[i];
        edge->source += edge->source > graph->text_blocks ? copies : 0;
        edge->target += edge->target > graph->text_blocks ? copies : 0;
    }
}

void double_loops(struct graph *graph) {
    index_list chosen = {0};
    if (!graph->function->compiled)
        return;
    for (uint32_t i = 0; i < graph->text_blocks; i++)
        if (is_worth_doubling(graph, i))
            vector_push(graph->arena, &chosen, i);
    move_hubs(graph, (uint32_t)chosen.count);
    for (size_t i = 0; i < chosen.count; i++)
        double_block(graph, chosen.data[i]);
    find_countable(graph);
}
