/* unroll.c: small loops that store get a counter for each of several turns.
 *
 * A counter is a load and a store of the same cell.  Mostly the processor forwards one turn's store
 * to the next turn's load at once; but where a store of the loop's own falls on an address that it
 * takes for the cell's (some pages of data do, by chance, in some runs), the load waits for the
 * store, seven to eight cycles.  A loop of one cycle a turn is then six times as slow.  So the
 * loop's block gets copies behind it, each with a cell of its own, enough to hide the wait.  The
 * jump of all but the last is turned round:
 *
 *     head: body; jcc head          head: body; jncc exit
 *     exit:                               body; jncc exit
 *                                         ...
 *                                         body; jcc head
 *                                   exit:
 *
 * In the graph a copy is a block like any other, and each of them counts (tree.c sees to that): so
 * a process that is killed is off by one turn, not by a round of them.  Readers add the copies'
 * counts to the block's.
 *
 * requires: find_frequencies    makes: copies behind the blocks, their edges and frequencies
 * maintains: all other facts    breaks: ends that name hubs (renumbered here) */
#include "flow/graph.h"

#include "x86/sequence.h"

/* Copies of more than that cost more in fetching than they save. */
enum {
    BODY_SIZE_MAX = 48
};

/* Turns by the instructions of a turn: at six instructions a cycle, so many turns
 * take about as long as a load that waits for a store. */
static uint32_t count_turns(const struct basic_block *block) {
    if (block->count <= 8)
        return 8;
    return block->count <= 16 ? 4 : 2;
}

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

static bool is_worth_unrolling(const struct graph *graph, uint32_t index) {
    const struct basic_block *block = &graph->blocks.data[index];
    return !block->padding && block->size <= BODY_SIZE_MAX && find_turn(graph, index) &&
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

/* Adds a copy, not yet with its edges.  Returns its end. */
static uint32_t add_copy(struct graph *graph, uint32_t index) {
    struct basic_block copy = graph->blocks.data[index];
    copy.in = copy.out = (index_list){0};
    copy.copy = 0;
    copy.copy_of = index + 1;
    copy.aligned_by = NONE;
    vector_push(graph->arena, &graph->blocks, copy);
    return (uint32_t)graph->blocks.count;
}

/* Each turn but the last falls into the next one and jumps to the exit; the last jumps back to the
 * head and falls to the exit. */
static void unroll(struct graph *graph, uint32_t index) {
    struct basic_block *head = &graph->blocks.data[index];
    uint32_t turns = count_turns(head);
    uint32_t turn_index = (uint32_t)(find_turn(graph, index) - graph->edges.data);
    uint32_t exit_index = head->out.data[head->out.data[0] == turn_index];
    struct edge *turn = &graph->edges.data[turn_index], *way_out = &graph->edges.data[exit_index];
    head->frequency /= turns;
    turn->frequency /= turns;
    way_out->frequency /= turns;
    struct edge back = *turn, last_exit = *way_out;
    remove_index(&head->in, turn_index);
    turn->jumps = false;
    way_out->jumps = true;
    struct edge next_turn = *turn, next_exit = *way_out;
    uint32_t before = index;
    for (uint32_t i = 1; i < turns; i++) {
        uint32_t copy = add_copy(graph, index);
        graph->blocks.data[before].copy = copy;
        if (i == 1) {
            graph->edges.data[turn_index].target = copy;
            vector_push(graph->arena, &graph->blocks.data[copy - 1].in, turn_index);
        } else {
            next_turn.source = next_exit.source = before + 1;
            next_turn.target = copy;
            add_copy_edge(graph, next_turn);
            add_copy_edge(graph, next_exit);
        }
        before = copy - 1;
    }
    back.source = last_exit.source = before + 1;
    add_copy_edge(graph, back);
    add_copy_edge(graph, last_exit);
}

/* Hubs are numbered behind all blocks. */
static void move_hubs(struct graph *graph, uint32_t copies) {
    for (size_t i = 0; i < graph->edges.count; i++) {
        struct edge *edge = &graph->edges.data[i];
        edge->source += edge->source > graph->text_blocks ? copies : 0;
        edge->target += edge->target > graph->text_blocks ? copies : 0;
    }
}

void unroll_loops(struct graph *graph) {
    index_list chosen = {0};
    uint32_t copies = 0;
    if (!graph->function->compiled)
        return;
    for (uint32_t i = 0; i < graph->text_blocks; i++)
        if (is_worth_unrolling(graph, i)) {
            vector_push(graph->arena, &chosen, i);
            copies += count_turns(&graph->blocks.data[i]) - 1;
        }
    move_hubs(graph, copies);
    for (size_t i = 0; i < chosen.count; i++)
        unroll(graph, chosen.data[i]);
    find_countable(graph);
}
