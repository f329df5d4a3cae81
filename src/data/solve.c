/* solve.c: from the cells of a function to the counts of all its blocks and edges; see solve.h.
 *
 * Source: Ball, "Efficiently Counting Program Events with Support for On-line Queries" (1994),
 * section 2; Knuth, The Art of Computer Programming, volume 1, section 2.3.4.1: the flow on a
 * spanning tree follows from that on its chords.
 *
 * A block is two nodes, in and out, joined by an arc; the outside and each hub are one node.  The
 * arcs without a cell form a forest.  So some node has exactly one of them: its flow is what the
 * node's other arcs leave over.  That makes another node a leaf, and so on.
 *
 * Invariants, at every step:
 *     node.balance = flow in - flow out, of the arcs known so far
 *     node.unknown = number of incident arcs not known yet
 *     node.arcs    = exclusive or of their numbers; so the last one's number where unknown = 1
 *
 * Sums are taken modulo 2^64, so order does not matter and nothing overflows.  While a program runs
 * its cells are not read at one instant, so a count can come out a little below zero: then it is
 * zero. */
#include "data/solve.h"

#include "util/diag.h"

#include <stdlib.h>
#include <string.h>

struct flow_node {
    uint64_t balance;
    uint32_t unknown;
    uint32_t arcs;
};

/* Arcs are numbered: first each block's own, then the edges. */
struct arc {
    uint32_t from, to; /* nodes */
    uint32_t cell;
    int64_t *count;
};

/* Node numbers: outside 0, in and out of block b 1 + 2b and 2 + 2b, then the hubs. */
static uint32_t edge_node(const struct function *function, uint32_t end, bool is_source) {
    if (end == 0)
        return 0;
    if (end <= function->block_count)
        return 2 * end - 1 + is_source;
    return end + (uint32_t)function->block_count;
}

static struct arc find_arc(struct function *function, size_t number) {
    if (number < function->block_count) {
        struct block *block = &function->blocks[number];
        uint32_t in = 1 + 2 * (uint32_t)number;
        return (struct arc){in, in + 1, block->cell, &block->count};
    }
    struct flow_edge *edge = &function->edges[number - function->block_count];
    return (struct arc){edge_node(function, edge->source, true),
                        edge_node(function, edge->target, false), edge->cell, &edge->count};
}

static void reserve(struct solver *solver, size_t count) {
    if (count > solver->capacity) {
        solver_release(solver);
        solver->capacity = 2 * count;
        solver->nodes = calloc(solver->capacity, sizeof *solver->nodes);
        solver->leaves = calloc(solver->capacity, sizeof *solver->leaves);
        if (!solver->nodes || !solver->leaves)
            die("out of memory: a function has %zu nodes", count);
    }
    memset(solver->nodes, 0, count * sizeof *solver->nodes);
}

static void add_known(struct flow_node *nodes, const struct arc *arc) {
    nodes[arc->to].balance += (uint64_t)*arc->count;
    nodes[arc->from].balance -= (uint64_t)*arc->count;
}

/* Takes arc NUMBER in or out of what is not known at NODE.  CHANGE is 1 or -1. */
static void change_unknown(struct flow_node *node, size_t number, int change) {
    node->unknown += (uint32_t)change;
    node->arcs ^= (uint32_t)number;
}

/* Gives every node its balance and its unknown arcs; returns how many arcs are unknown. */
static size_t add_arcs(struct flow_node *nodes, struct function *function, const uint64_t *cells) {
    size_t unknown = 0;
    for (size_t i = 0; i < function->block_count + function->edge_count; i++) {
        struct arc arc = find_arc(function, i);
        if (arc.cell) {
            *arc.count = (int64_t)cells[arc.cell - 1];
            add_known(nodes, &arc);
        } else {
            change_unknown(&nodes[arc.from], i, 1);
            change_unknown(&nodes[arc.to], i, 1);
            unknown++;
        }
    }
    return unknown;
}

/* Solves leaf by leaf; returns how many arcs were solved. */
static size_t peel_leaves(struct solver *solver, size_t node_count, struct function *function) {
    struct flow_node *nodes = solver->nodes;
    size_t leaf_count = 0, solved = 0;
    for (size_t i = 0; i < node_count; i++)
        if (nodes[i].unknown == 1)
            solver->leaves[leaf_count++] = (uint32_t)i;
    while (leaf_count) {
        struct flow_node *leaf = &nodes[solver->leaves[--leaf_count]];
        if (leaf->unknown != 1) /* its arc was solved from the other end */
            continue;
        size_t number = leaf->arcs;
        struct arc arc = find_arc(function, number);
        bool leaves = leaf == &nodes[arc.from];
        uint32_t other = leaves ? arc.to : arc.from;
        *arc.count = (int64_t)(leaves ? leaf->balance : 0 - leaf->balance);
        add_known(nodes, &arc);
        change_unknown(leaf, number, -1);
        change_unknown(&nodes[other], number, -1);
        solved++;
        if (nodes[other].unknown == 1)
            solver->leaves[leaf_count++] = other;
    }
    return solved;
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
    size_t node_count = 1 + 2 * function->block_count + function->hub_count;
    reserve(solver, node_count);
    size_t unknown = add_arcs(solver->nodes, function, cells);
    size_t solved = peel_leaves(solver, node_count, function);
    raise_to_zero(function);
    return solved == unknown;
}

void solver_release(struct solver *solver) {
    free(solver->nodes);
    free(solver->leaves);
    *solver = (struct solver){0};
}
