/* tree.c: chooses where counters are inserted: on the chords of a maximum spanning tree.
 *
 * Ball 1994, section 3. Each vertex is split into an in node and an out node (his figure 2), so
 * that a counter can be in a block or on an edge. By Knuth's theorem (there, 2.1) the chords
 * determine the arcs of any spanning tree. Kruskal's algorithm takes the most expensive arcs into
 * the tree. Arcs that cannot hold code are taken first. They must not close a cycle: build_graph
 * refuses such a function, and place_chords checks it.
 *
 * requires: find_frequencies, find_liveness   makes: chord of blocks and edges */
#include "flow/graph.h"
#include "flow/nodes.h"

#include "util/diag.h"

#include <stdlib.h>

struct arc {
    uint32_t from, to; /* nodes */
    uint32_t index;    /* of the block or edge */
    bool is_edge;
    bool countable; /* otherwise it cannot hold code, and the tree takes it first */
    double cost;    /* of a counter there, for each call of the function */
};

/* The cost of a counter, in units of one increment in memory. */
static const double COST_FLAGS_LIVE = 4; /* flags must be saved */
static const double COST_JUMP = 1.5;     /* a taken edge needs a detour by a jump */
static const double COST_BACK = 0.3;     /* and a jump back, which costs less */
/* In a tight loop, the arithmetic of each iteration may keep all execution units busy. Then an
 * addition costs least far from the next branch. flex takes 1.07 times its twin's time. With the
 * addition before the loop's shorter block it takes 1.11 times. */
static const double COST_FAR_FROM_BRANCH = 0.85;
enum {
    FAR_FROM_BRANCH = 4 /* instructions of a block, its branch included */
};

/* Whether there is a position in the block where no flag is live except carry, which inc does not
 * change. */
static bool has_quiet_place(const struct graph *graph, const struct basic_block *block) {
    for (uint32_t i = 0; i <= block->count; i++) {
        if (!(live_before(graph, block, i) & LIVE(0, FLAGS_ALL & ~FLAG_CARRY)))
            return true;
        if (i + 1 >= block->count)
            return false;
    }
    return false;
}

static double turn_cost(const struct basic_block *block) {
    bool turns = block->copy || block->copy_of;
    return turns && block->count >= FAR_FROM_BRANCH ? COST_FAR_FROM_BRANCH : 1;
}

double block_cost(const struct graph *graph, const struct basic_block *block) {
    return turn_cost(block) * block->frequency *
           (has_quiet_place(graph, block) ? 1 : COST_FLAGS_LIVE);
}

double edge_cost(const struct graph *graph, const struct edge *edge) {
    const struct basic_block *target =
        is_block(graph, edge->target) ? &graph->blocks.data[edge->target - 1] : NULL;
    double cost =
        target && (target->live_in & LIVE(0, FLAGS_ALL & ~FLAG_CARRY)) ? COST_FLAGS_LIVE : 1;
    if (!edge->jumps && target)
        cost *= turn_cost(target);
    if (!edge->jumps || leads_to_tail(graph, edge))
        return cost * edge->frequency;
    double other = graph->blocks.data[edge->source - 1].frequency - edge->frequency;
    double jumps = other < edge->frequency ? (other > 0 ? other : 0) : edge->frequency;
    return (cost + COST_BACK) * edge->frequency + COST_JUMP * jumps;
}

static int compare_arcs(const void *left, const void *right) {
    const struct arc *a = left, *b = right;
    if (a->countable != b->countable)
        return a->countable ? 1 : -1;
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    if (a->is_edge != b->is_edge)
        return a->is_edge ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static struct arc *collect_arcs(const struct graph *graph) {
    size_t count = 0;
    struct arc *arcs =
        ARENA_ARRAY(graph->arena, struct arc, graph->blocks.count + graph->edges.count);
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        arcs[count++] = (struct arc){.from = in_node(graph, i + 1),
                                     .to = out_node(graph, i + 1),
                                     .index = i,
                                     .countable = block->countable,
                                     .cost = block_cost(graph, block)};
    }
    for (uint32_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        arcs[count++] = (struct arc){.from = out_node(graph, edge->source),
                                     .to = in_node(graph, edge->target),
                                     .index = i,
                                     .is_edge = true,
                                     .countable = edge->countable,
                                     .cost = edge_cost(graph, edge)};
    }
    return arcs;
}

/* Whether an arc is a chord in any case: where there is a record, blocks with counts_turns, and
 * with PLACEMENT_BLOCK all blocks that can hold code. */
static bool is_chosen(const struct graph *graph, const struct arc *arc, enum placement placement) {
    if (!arc->countable)
        return false;
    if (arc->is_edge)
        return graph->edges.data[arc->index].recorded;
    const struct basic_block *block = &graph->blocks.data[arc->index];
    return block->recorded || placement == PLACEMENT_BLOCK || block->counts_turns;
}

/* Takes an arc into the tree if it closes no cycle. All other arcs are chords. */
void place_chords(struct graph *graph, enum placement placement) {
    size_t count = graph->blocks.count + graph->edges.count;
    struct arc *arcs = collect_arcs(graph);
    qsort(arcs, count, sizeof *arcs, compare_arcs);
    uint32_t nodes = node_count(graph);
    uint32_t *parent = ARENA_ARRAY(graph->arena, uint32_t, nodes);
    for (uint32_t i = 0; i < nodes; i++)
        parent[i] = i;
    for (size_t i = 0; i < count; i++) {
        bool chosen = is_chosen(graph, &arcs[i], placement);
        if (!chosen && join_trees(parent, arcs[i].from, arcs[i].to))
            continue;
        CHECK(arcs[i].countable);
        if (arcs[i].is_edge)
            graph->edges.data[arcs[i].index].chord = true;
        else
            graph->blocks.data[arcs[i].index].chord = true;
    }
}
