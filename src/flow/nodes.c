/* nodes.c: the nodes of flow equations, and forests over them; see nodes.h.
 *
 * A block is an arc between two nodes, and so is an edge. The outside is a node, and each hub is
 * one. */
#include "flow/nodes.h"

#include "flow/graph.h"

static uint32_t find_root(uint32_t *parent, uint32_t node) {
    while (parent[node] != node)
        node = parent[node] = parent[parent[node]];
    return node;
}

bool join_trees(uint32_t *parent, uint32_t x, uint32_t y) {
    x = find_root(parent, x);
    y = find_root(parent, y);
    parent[x] = y;
    return x != y;
}

uint32_t out_node(const struct graph *graph, uint32_t end) {
    uint32_t blocks = (uint32_t)graph->blocks.count;
    if (end == 0)
        return 0;
    return end <= blocks ? 2 * end : 2 * blocks + end - blocks;
}

uint32_t in_node(const struct graph *graph, uint32_t end) {
    return is_block(graph, end) ? 2 * end - 1 : out_node(graph, end);
}

uint32_t node_count(const struct graph *graph) {
    return 1 + 2 * (uint32_t)graph->blocks.count + graph->hub_count;
}

bool closes_cycle(const struct graph *graph) {
    uint32_t nodes = node_count(graph);
    uint32_t *parent = ARENA_ARRAY(graph->arena, uint32_t, nodes);
    bool closes = false;
    for (uint32_t i = 0; i < nodes; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        closes |= !graph->blocks.data[i].countable &&
                  !join_trees(parent, in_node(graph, i + 1), out_node(graph, i + 1));
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        closes |= !edge->countable &&
                  !join_trees(parent, out_node(graph, edge->source), in_node(graph, edge->target));
    }
    return closes;
}
