/* solve.c: from the cells of a function to the counts of all its blocks and edges; see solve.h.
 *
 * Source: Ball, "Efficiently Counting Program Events with Support for On-line Queries" (1994),
 * section 2; Knuth, The Art of Computer Programming, volume 1, section 2.3.4.1: the flow on a
 * spanning tree follows from the flow on its chords.
 *
 * A block is two nodes, in and out, joined by an arc. The outside and each hub are one node. The
 * arcs without a cell form a forest. So some node has exactly one of them. Its flow is the
 * difference of the flows on the node's other arcs. Then another node is a leaf, and so on.
 *
 * Invariants, at every step:
 *      node.balance = flow in - flow out, of the arcs known so far
 *      node.unknown = number of incident arcs not known yet
 *      node.arcs    = exclusive or of their numbers: the last one's number if unknown = 1
 *
 * Sums are modulo 2^64, so their order does not matter and nothing overflows. The cells of a
 * running program are not read at one instant, so a count can be a little below zero. Then it
 * becomes zero. */
#include "data/solve.h"

#include "data/flow.h"
#include "format/notes.h"
#include "util/diag.h"

#include <stdlib.h>
#include <string.h>

struct flow_node {
    uint64_t balance;
    uint32_t unknown;
    uint32_t arcs;
};

static void reserve(struct solver *solver, size_t count) {
    if (count > solver->capacity) {
        free(solver->nodes);
        free(solver->leaves);
        solver->capacity = 2 * count;
        solver->nodes = calloc(solver->capacity, sizeof *solver->nodes);
        solver->leaves = calloc(solver->capacity, sizeof *solver->leaves);
        if (!solver->nodes || !solver->leaves)
            die("out of memory: a function has %zu nodes", count);
    }
    memset(solver->nodes, 0, count * sizeof *solver->nodes);
}

static void add_known(struct flow_node *nodes, const struct flow_arc *arc, uint64_t count) {
    nodes[arc->to].balance += count;
    nodes[arc->from].balance -= count;
}

/* Adds arc NUMBER to the unknown arcs of NODE, or removes it. CHANGE is 1 or -1. */
static void change_unknown(struct flow_node *node, size_t number, int change) {
    node->unknown += (uint32_t)change;
    node->arcs ^= (uint32_t)number;
}

/* The destination of counts. */
struct result {
    struct block *blocks;
    struct flow_edge *edges;
    int64_t *counts; /* by block, for blocks only; NULL: use the other two */
};

/* A copy's count is added to that of its original. */
static void add_count(const struct result *result, const struct flow_arc *arc, uint64_t count) {
    if (result->counts) {
        if (!arc->is_edge)
            result->counts[arc->of] += (int64_t)count;
        return;
    }
    int64_t *sum = arc->is_edge ? &result->edges[arc->of].count : &result->blocks[arc->of].count;
    *sum += (int64_t)count;
}

/* Sets the balance and the unknown arcs of every node. Returns how many arcs are unknown. */
static size_t add_arcs(struct flow_node *nodes, const struct flow *flow, const uint64_t *cells,
                       const struct result *result) {
    size_t unknown = 0;
    for (size_t i = 0; i < flow->arc_count; i++) {
        const struct flow_arc *arc = &flow->arcs[i];
        if (arc->cell) {
            add_known(nodes, arc, cells[arc->cell - 1]);
            add_count(result, arc, cells[arc->cell - 1]);
        } else {
            change_unknown(&nodes[arc->from], i, 1);
            change_unknown(&nodes[arc->to], i, 1);
            unknown++;
        }
    }
    return unknown;
}

/* Solves one leaf after the other. Returns how many arcs were solved. */
static size_t peel_leaves(struct solver *solver, const struct flow *flow,
                          const struct result *result) {
    struct flow_node *nodes = solver->nodes;
    size_t leaf_count = 0, solved = 0;
    for (size_t i = 0; i < flow->node_count; i++)
        if (nodes[i].unknown == 1)
            solver->leaves[leaf_count++] = (uint32_t)i;
    while (leaf_count) {
        struct flow_node *leaf = &nodes[solver->leaves[--leaf_count]];
        if (leaf->unknown != 1) /* its arc was solved from the other end */
            continue;
        size_t number = leaf->arcs;
        const struct flow_arc *arc = &flow->arcs[number];
        bool leaves = leaf == &nodes[arc->from];
        uint32_t other = leaves ? arc->to : arc->from;
        uint64_t count = leaves ? leaf->balance : 0 - leaf->balance;
        add_known(nodes, arc, count);
        add_count(result, arc, count);
        change_unknown(leaf, number, -1);
        change_unknown(&nodes[other], number, -1);
        solved++;
        if (nodes[other].unknown == 1)
            solver->leaves[leaf_count++] = other;
    }
    return solved;
}

static void clear_counts(struct function *function) {
    for (size_t i = 0; i < function->block_count; i++)
        function->blocks[i].count = 0;
    for (size_t i = 0; i < function->edge_count; i++)
        function->edges[i].count = 0;
}

static void raise_to_zero(struct function *function) {
    for (size_t i = 0; i < function->block_count; i++)
        if (function->blocks[i].count < 0)
            function->blocks[i].count = 0;
    for (size_t i = 0; i < function->edge_count; i++)
        if (function->edges[i].count < 0 && function->edges[i].kind != QUIPU_EDGE_CALL_LOST)
            function->edges[i].count = 0;
}

bool solve_flow(struct solver *solver, struct function *function, const uint64_t *cells) {
    struct result result = {.blocks = function->blocks, .edges = function->edges};
    reserve(solver, function->flow->node_count);
    clear_counts(function);
    size_t unknown = add_arcs(solver->nodes, function->flow, cells, &result);
    size_t solved = peel_leaves(solver, function->flow, &result);
    raise_to_zero(function);
    return solved == unknown;
}

static void reserve_blocks(struct solver *solver, size_t count) {
    if (count > solver->block_capacity) {
        free(solver->blocks);
        solver->block_capacity = 2 * count;
        solver->blocks = calloc(solver->block_capacity, sizeof *solver->blocks);
        if (!solver->blocks)
            die("out of memory: a function has %zu blocks", count);
    }
    memset(solver->blocks, 0, count * sizeof *solver->blocks);
}

uint64_t solve_executed(struct solver *solver, const struct function *function,
                        const uint64_t *cells) {
    uint64_t executed = 0;
    if (!function->block_count)
        return 0;
    reserve(solver, function->flow->node_count);
    reserve_blocks(solver, function->block_count);
    struct result result = {.counts = solver->blocks};
    (void)add_arcs(solver->nodes, function->flow, cells, &result);
    (void)peel_leaves(solver, function->flow, &result);
    for (size_t i = 0; i < function->block_count; i++) {
        const struct block *block = &function->blocks[i];
        if (solver->blocks[i] > 0)
            executed +=
                (uint64_t)solver->blocks[i] * (block->instruction_count - block->jumped_over);
    }
    return executed;
}

void solver_release(struct solver *solver) {
    free(solver->nodes);
    free(solver->leaves);
    free(solver->blocks);
    *solver = (struct solver){0};
}
