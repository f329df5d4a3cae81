/* unroll.c: unrolls small loops, so that only every second, third or fourth iteration increments a
 * cell.
 *
 * A counter is a load and a store of the same cell. The processor usually forwards the store of one
 * iteration to the load of the next one at once. But a store of the loop may have an address that
 * the processor takes for the cell's. This happens by chance, with some pages of data in some runs.
 * Then the load waits for the store, seven to eight cycles. A loop of one cycle per iteration then
 * takes six times as long. So the loop is followed by copies with cells of their own, enough of
 * them to hide the wait. The last jump of each iteration but the last is inverted:
 *
 *     head: body; jcc head          head: body; jncc exit
 *     exit:                               body; jncc exit
 *                                         ...
 *                                         body; jcc head
 *                                   exit:
 *
 * In the graph, a copy is a block like any other. In loops that store, every second iteration has a
 * counter in its last block, behind its stores. The flow determines the iterations in between. If
 * such a loop is one block, every third iteration has a counter: the second of each three. For
 * readers, the flow of a killed process leaves the loop by the exit that is in the tree. That is an
 * exit in the middle between two counters. So the count differs from the state of memory by one
 * iteration at most. In loops that do not store, the tree decides, and one counter for all
 * iterations is enough: only a debugger can find out in which of them a process was killed. Readers
 * add the counts of the copies to the count of the block.
 *
 * A loop of several blocks that does not store is unrolled to two iterations: more branches do not
 * fit a line of fetched code. flex's search, of two blocks, takes 1.02 to 1.04 times its twin's
 * time on a Zen 5, and 1.04 to 1.08 times with four iterations.
 *
 * Loops stay as they are if they do not store, and neither count nor walk an array. They follow
 * pointers, which takes longer than counting, and mostly have one or two iterations.
 *
 * requires: find_frequencies   makes: copies behind the blocks, their edges and frequencies
 * maintains: all other facts   breaks: ends that are hubs (renumbered here) */
#include "flow/unroll.h"
#include "format/notes.h"

#include "x86/sequence.h"

/* Copies of larger loops cost more in fetching than they save. */
enum {
    LOOP_SIZE_MAX = 96, /* bytes */
    LOOP_BLOCKS_MAX = 8,
    SHORT_LOOP_MAX = 16 /* instructions of an iteration */
};

/* The least number of iterations that is expected of a loop that counts or walks an array. */
static const double TURNS_EXPECTED = 8;

/* A factor by which an exit is preferred to any other exit of the loop: enough for the tree to take
 * it first. */
static const double PREFERRED = 1.01;

/* Records what the block's instructions do. */
static void note_instructions(const struct graph *graph, const struct basic_block *block,
                              struct loop_text *loop) {
    for (uint32_t i = 0; i < block->count; i++) {
        const struct decoded *decoded = graph->instructions.data[block->first + i].decoded;
        loop->stores |= decoded->stores;
        loop->steps |= decoded->steps;
    }
}

/* Sets the number of iterations in the unrolled loop, by the instructions of one iteration. At six
 * instructions per cycle, so many iterations of a loop that stores take about as long as a load
 * that waits for a store. */
static void choose_turns(const struct graph *graph, struct loop_text *loop) {
    uint32_t count = 0;
    for (uint32_t i = loop->first; i <= loop->last; i++) {
        count += graph->blocks.data[i].count;
        note_instructions(graph, &graph->blocks.data[i], loop);
    }
    bool one_block = loop->first == loop->last;
    loop->period = loop->stores && one_block ? 3 : 2;
    bool twice = count <= SHORT_LOOP_MAX && (loop->stores || one_block);
    loop->turns = twice ? 2 * loop->period : loop->period;
}

/* Whether iteration TURN (0 ...) counts in its last block, whatever the tree would choose. */
static bool turn_counts(const struct loop_text *loop, uint32_t turn) {
    return loop->stores && turn % loop->period == 1;
}

/* Whether the iteration before TURN counts, so TURN is in the middle between two that count. */
static bool is_between(const struct loop_text *loop, uint32_t turn) {
    return turn_counts(loop, turn + loop->period - 1);
}

struct edge *find_edge(const struct graph *graph, uint32_t block, enum quipu_edge_kind kind) {
    const index_list *out = &graph->blocks.data[block].out;
    for (size_t i = 0; i < out->count; i++)
        if (graph->edges.data[out->data[i]].kind == kind)
            return &graph->edges.data[out->data[i]];
    return NULL;
}

/* Whether the loop's text can be copied: it has only instructions, labels and alignments. */
static bool is_plain_text(const struct graph *graph, const struct loop_text *loop) {
    const struct unit *unit = graph->unit;
    const struct basic_block *first = &graph->blocks.data[loop->first];
    const struct graph_instruction *last = last_instruction(graph, &graph->blocks.data[loop->last]);
    uint32_t from = graph->instructions.data[first->first].first_statement;
    for (uint32_t s = from; s <= last->statement; s++) {
        const struct statement *statement = &unit->statements.data[s];
        bool plain =
            statement->kind == STATEMENT_INSTRUCTION || statement->aligns ||
            (statement->kind == STATEMENT_LABEL && unit->symbols.data[statement->symbol].local);
        if (!plain || statement->inline_asm || statement->intel || statement->opaque ||
            statement->section != unit->statements.data[from].section)
            return false;
    }
    return true;
}

/* Whether the edges out of the block lead out of the loop or forward in it, except the last block's
 * jump back. */
static bool goes_on(const struct graph *graph, const struct loop_text *loop, uint32_t index) {
    const struct basic_block *block = &graph->blocks.data[index];
    for (size_t i = 0; i < block->out.count; i++) {
        const struct edge *edge = &graph->edges.data[block->out.data[i]];
        bool turn = index == loop->last && edge->kind == QUIPU_EDGE_TAKEN;
        uint32_t target = edge->target - 1;
        if (!is_block(graph, edge->target) || (!turn && target >= loop->first && target <= index))
            return false;
    }
    return true;
}

static bool can_be_copied(const struct graph *graph, const struct loop_text *loop, uint32_t index) {
    const struct basic_block *block = &graph->blocks.data[index];
    if (block->copy || block->fragment != graph->blocks.data[loop->first].fragment ||
        is_entered_from_outside(graph, block) || !goes_on(graph, loop, index))
        return false;
    if (block->padding)
        return index > loop->first;
    switch (last_instruction(graph, block)->decoded->class) {
    case CLASS_PLAIN:
        return index < loop->last;
    case CLASS_JUMP:
        return index < loop->last && has_plain_jump(graph, block);
    case CLASS_CONDITIONAL:
        return has_plain_jump(graph, block) &&
               (index == loop->last || find_edge(graph, index, QUIPU_EDGE_TAKEN));
    default:
        return false;
    }
}

bool find_loop_text(const struct graph *graph, uint32_t last, struct loop_text *loop) {
    const struct basic_block *block = &graph->blocks.data[last];
    const struct edge *turn = find_edge(graph, last, QUIPU_EDGE_TAKEN);
    if (block->padding || block->out.count != 2 || !turn || !turn->target ||
        turn->target - 1 > last || !find_edge(graph, last, QUIPU_EDGE_NOT_TAKEN) ||
        last_instruction(graph, block)->decoded->class != CLASS_CONDITIONAL)
        return false;
    *loop = (struct loop_text){.first = turn->target - 1, .last = last};
    const struct statement *jump =
        &graph->unit->statements.data[last_instruction(graph, block)->statement];
    if (last - loop->first >= LOOP_BLOCKS_MAX ||
        !inverted_condition(graph->unit->text + jump->start, statement_word(graph->unit, jump)))
        return false;
    uint32_t size = 0;
    for (uint32_t i = loop->first; i <= last; i++) {
        size += graph->blocks.data[i].size;
        if (!can_be_copied(graph, loop, i))
            return false;
    }
    choose_turns(graph, loop);
    return (loop->stores || loop->steps) && size <= LOOP_SIZE_MAX && is_plain_text(graph, loop);
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

/* Adds a copy of block INDEX, without its edges. It is the next copy after block BEFORE. */
static void add_copy(struct graph *graph, uint32_t index, uint32_t before) {
    struct basic_block copy = graph->blocks.data[index];
    copy.in = copy.out = (index_list){0};
    copy.copy = 0;
    copy.copy_of = index + 1;
    copy.aligned_by = NONE;
    vector_push(graph->arena, &graph->blocks, copy);
    graph->blocks.data[before].copy = (uint32_t)graph->blocks.count;
}

/* Adds the copies of all blocks for one more iteration, without edges. Returns the first of them.
 */
static uint32_t add_turn(struct graph *graph, const struct loop_text *loop, uint32_t before) {
    uint32_t first = (uint32_t)graph->blocks.count;
    for (uint32_t i = loop->first; i <= loop->last; i++)
        add_copy(graph, i, before + i - loop->first);
    return first;
}

/* Adds the edges of the copies at FROM, except those of the last block, which join the iterations:
 * see unroll. */
static void add_turn_edges(struct graph *graph, const struct loop_text *loop, uint32_t from) {
    for (uint32_t i = loop->first; i < loop->last; i++) {
        const index_list out = graph->blocks.data[i].out;
        for (size_t e = 0; e < out.count; e++) {
            struct edge edge = graph->edges.data[out.data[e]];
            uint32_t target = edge.target - 1;
            edge.source = from + i - loop->first + 1;
            if (target > loop->first && target <= loop->last)
                edge.target = from + target - loop->first + 1;
            add_copy_edge(graph, edge);
        }
    }
}

static bool is_in(const struct loop_text *loop, uint32_t block) {
    return block >= loop->first && block <= loop->last;
}

/* Whether the edge leads out of the loop. */
static bool leaves(const struct graph *graph, const struct loop_text *loop,
                   const struct edge *edge) {
    if (!is_block(graph, edge->target))
        return true;
    uint32_t original = graph->blocks.data[edge->target - 1].copy_of;
    return !is_in(loop, original ? original - 1 : edge->target - 1);
}

/* Reduces the frequencies of the exits if the loop counts or walks an array. They were guessed from
 * each branch alone. And such a loop is often part of a larger loop with the same head, so its
 * exits looked like any other edge. But searching, comparing and copying take many iterations.
 * Following pointers may end at once. */
static void expect_turns(struct graph *graph, const struct loop_text *loop) {
    index_list exits = {0};
    double leaving = 0;
    for (uint32_t i = loop->first; i <= loop->last; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        for (size_t e = 0; e < block->out.count; e++) {
            const struct edge *edge = &graph->edges.data[block->out.data[e]];
            if (!leaves(graph, loop, edge))
                continue;
            vector_push(graph->arena, &exits, block->out.data[e]);
            leaving += edge->frequency;
        }
    }
    double expected = graph->blocks.data[loop->first].frequency / TURNS_EXPECTED;
    if (!loop->steps || !graph->guessed || leaving <= expected)
        return;
    for (size_t e = 0; e < exits.count; e++)
        graph->edges.data[exits.data[e]].frequency *= expected / leaving;
}

static void divide_frequencies(struct graph *graph, const struct loop_text *loop) {
    for (uint32_t i = loop->first; i <= loop->last; i++) {
        struct basic_block *block = &graph->blocks.data[i];
        block->frequency /= loop->turns;
        block->cycle *= loop->turns;
        for (size_t e = 0; e < block->out.count; e++)
            graph->edges.data[block->out.data[e]].frequency /= loop->turns;
    }
}

/* Makes the tree take the block's exits from the loop first. */
static void prefer_ways_out(struct graph *graph, const struct loop_text *loop,
                            const struct basic_block *block) {
    for (size_t i = 0; i < block->out.count; i++) {
        struct edge *edge = &graph->edges.data[block->out.data[i]];
        if (leaves(graph, loop, edge))
            edge->frequency *= PREFERRED;
    }
}

/* With this, the flow of a killed process leaves the loop in the middle between two counters. */
static void prefer_middle_turns(struct graph *graph, const struct loop_text *loop) {
    for (uint32_t i = loop->first; i <= loop->last; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        for (uint32_t turn = 0; turn < loop->turns; turn++) {
            if (is_between(loop, turn))
                prefer_ways_out(graph, loop, block);
            if (block->copy)
                block = &graph->blocks.data[block->copy - 1];
        }
    }
}

/* Each iteration but the last falls into the next one, and its jump leads to the exit. The last one
 * jumps back to the first and falls to the exit. */
static void unroll(struct graph *graph, const struct loop_text *loop) {
    uint32_t turn_index =
        (uint32_t)(find_edge(graph, loop->last, QUIPU_EDGE_TAKEN) - graph->edges.data);
    uint32_t exit_index =
        (uint32_t)(find_edge(graph, loop->last, QUIPU_EDGE_NOT_TAKEN) - graph->edges.data);
    expect_turns(graph, loop);
    divide_frequencies(graph, loop);
    struct edge back = graph->edges.data[turn_index], last_exit = graph->edges.data[exit_index];
    struct edge next_turn = back, next_exit = last_exit;
    next_turn.jumps = false;
    next_exit.jumps = true;
    graph->edges.data[turn_index].jumps = false;
    graph->edges.data[exit_index].jumps = true;
    remove_index(&graph->blocks.data[loop->first].in, turn_index);
    graph->blocks.data[loop->last].turns_to = loop->first + 1;
    graph->blocks.data[loop->last].counts_turns = turn_counts(loop, 0);
    uint32_t before = loop->first, length = loop->last - loop->first;
    for (uint32_t i = 1; i < loop->turns; i++) {
        uint32_t turn = add_turn(graph, loop, before);
        graph->blocks.data[turn + length].counts_turns = turn_counts(loop, i);
        add_turn_edges(graph, loop, turn);
        if (i == 1) {
            graph->edges.data[turn_index].target = turn + 1;
            vector_push(graph->arena, &graph->blocks.data[turn].in, turn_index);
        } else {
            next_turn.source = next_exit.source = before + length + 1;
            next_turn.target = turn + 1;
            add_copy_edge(graph, next_turn);
            add_copy_edge(graph, next_exit);
        }
        before = turn;
    }
    back.source = last_exit.source = before + length + 1;
    add_copy_edge(graph, back);
    add_copy_edge(graph, last_exit);
    prefer_middle_turns(graph, loop);
}

/* Renumbers hubs: their numbers follow those of all blocks. */
static void move_hubs(struct graph *graph, uint32_t copies) {
    for (size_t i = 0; i < graph->edges.count; i++) {
        struct edge *edge = &graph->edges.data[i];
        edge->source += edge->source > graph->text_blocks ? copies : 0;
        edge->target += edge->target > graph->text_blocks ? copies : 0;
    }
}

/* If loops share a block, the one that ends first is unrolled. */
void unroll_loops(struct graph *graph) {
    VECTOR(struct loop_text) loops = {0};
    uint32_t copies = 0, next = 0;
    if (!graph->function->compiled)
        return;
    for (uint32_t i = 0; i < graph->text_blocks; i++) {
        struct loop_text loop;
        if (!find_loop_text(graph, i, &loop) || loop.first < next)
            continue;
        vector_push(graph->arena, &loops, loop);
        copies += (loop.turns - 1) * (loop.last - loop.first + 1);
        next = i + 1;
    }
    move_hubs(graph, copies);
    for (size_t i = 0; i < loops.count; i++)
        unroll(graph, &loops.data[i]);
    find_countable(graph);
}
