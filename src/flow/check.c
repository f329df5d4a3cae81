/* check.c: checks the invariants of a graph after each analysis; see check.h.
 *
 * Each check computes its facts itself, without the functions of the analysis. */
#include "flow/check.h"

#include "util/diag.h"

#include <math.h>

/* ---- the graph ---- */

static void check_edges(const struct graph *graph) {
    uint32_t ends = 1 + (uint32_t)graph->blocks.count + graph->hub_count;
    for (uint32_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        CHECK(edge->source < ends && edge->target < ends);
    }
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        for (size_t i = 0; i < block->out.count; i++)
            CHECK(graph->edges.data[block->out.data[i]].source == b + 1);
        for (size_t i = 0; i < block->in.count; i++)
            CHECK(graph->edges.data[block->in.data[i]].target == b + 1);
    }
}

/* Only the last instruction of a block transfers control, and sizes add up. */
static void check_blocks(const struct graph *graph) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        CHECK(block->out.count > 0);
        CHECK(block->padding == (block->count == 0));
        uint32_t size = 0;
        for (uint32_t i = 0; i < block->count; i++) {
            const struct decoded *decoded = graph->instructions.data[block->first + i].decoded;
            CHECK(i + 1 == block->count || decoded->class == CLASS_PLAIN);
            size += decoded->size;
        }
        CHECK(block->padding || size == block->size);
    }
}

void check_shape(const struct graph *graph) {
    check_edges(graph);
    check_blocks(graph);
}

/* ---- frequencies, copies, tails ---- */

void check_frequencies(const struct graph *graph) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        CHECK(isfinite(block->frequency) && block->frequency >= 0);
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        CHECK(isfinite(edge->frequency) && edge->frequency >= 0);
    }
}

void check_copies(const struct graph *graph) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        CHECK(block->copy <= graph->blocks.count && block->copy_of <= graph->blocks.count);
        CHECK(!block->copy_of || b >= graph->text_blocks);
        if (!block->copy)
            continue;
        const struct basic_block *copy = &graph->blocks.data[block->copy - 1];
        const struct basic_block *original =
            block->copy_of ? &graph->blocks.data[block->copy_of - 1] : block;
        CHECK(copy->copy_of && &graph->blocks.data[copy->copy_of - 1] == original);
        CHECK(copy->first == original->first && copy->count == original->count);
    }
}

void check_tails(const struct graph *graph) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        for (size_t i = 0; block->tail && i < block->out.count; i++) {
            enum quipu_edge_kind kind = graph->edges.data[block->out.data[i]].kind;
            CHECK(kind != QUIPU_EDGE_FALL && kind != QUIPU_EDGE_NOT_TAKEN);
        }
    }
}

/* ---- liveness ---- */

static uint32_t read_first(const struct graph *graph, const struct basic_block *block) {
    uint32_t reads = 0, killed = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct decoded *decoded = graph->instructions.data[block->first + i].decoded;
        reads |= LIVE(decoded->registers_read, decoded->flags_read) & ~killed;
        killed |= LIVE(decoded->registers_killed, decoded->flags_written);
        if (decoded->class != CLASS_PLAIN)
            break; /* the decoded instruction does not state what a call writes */
    }
    return reads;
}

static uint32_t killed_in(const struct graph *graph, const struct basic_block *block) {
    uint32_t killed = LIVE(graph->reserved, 0);
    for (uint32_t i = 0; i < block->count; i++) {
        const struct decoded *decoded = graph->instructions.data[block->first + i].decoded;
        killed |= LIVE(decoded->registers_killed, decoded->flags_written);
        if (is_call_class(decoded->class) || decoded->class == CLASS_RETURN)
            killed |= LIVE(REGISTER_R11, FLAGS_ALL);
    }
    return killed;
}

void check_liveness(const struct graph *graph) {
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        if (is_block(graph, edge->source) && is_block(graph, edge->target))
            CHECK(!(graph->blocks.data[edge->target - 1].live_in &
                    ~graph->blocks.data[edge->source - 1].live_out));
    }
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        CHECK(!(read_first(graph, block) & ~block->live_in));
        CHECK(!(block->live_out & ~killed_in(graph, block) & ~block->live_in));
    }
}

/* ---- the tree ---- */

/* A forest of nodes, joined by arcs that are not chords. */
struct forest {
    uint32_t *parent;
    const struct graph *graph;
};

static uint32_t root_of(const struct forest *forest, uint32_t node) {
    while (forest->parent[node] != node)
        node = forest->parent[node];
    return node;
}

static void join(struct forest *forest, uint32_t from, uint32_t to) {
    from = root_of(forest, from);
    to = root_of(forest, to);
    CHECK(from != to); /* otherwise the arc closes a cycle, and no chord determines its count */
    forest->parent[from] = to;
}

void check_tree(const struct graph *graph) {
    uint32_t nodes = node_count(graph);
    struct forest forest = {ARENA_ARRAY(graph->arena, uint32_t, nodes), graph};
    for (uint32_t i = 0; i < nodes; i++)
        forest.parent[i] = i;
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        CHECK(block->countable || !block->chord);
        if (!block->chord)
            join(&forest, in_node(graph, b + 1), out_node(graph, b + 1));
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        CHECK(edge->countable || !edge->chord);
        if (!edge->chord)
            join(&forest, out_node(graph, edge->source), in_node(graph, edge->target));
    }
}

/* ---- counters ---- */

void check_counters(const struct graph *graph) {
    for (size_t b = 0; b < graph->blocks.count; b++) {
        const struct basic_block *block = &graph->blocks.data[b];
        CHECK(block->chord || !block->increments.count);
        CHECK(block->cell <= graph->cell_count);
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        CHECK(edge->chord || !edge->increments.count);
        CHECK(edge->cell <= graph->cell_count);
    }
}
