/* unroll.h: which loops are worth to be unrolled. */
#ifndef QUIPU_FLOW_UNROLL_H
#define QUIPU_FLOW_UNROLL_H

#include "flow/graph.h"

/* Consecutive blocks whose last one jumps back to the first. No other block in it jumps back into
 * it. */
struct loop_text {
    uint32_t first, last; /* blocks */
    bool stores, steps;   /* steps: it counts or walks an array */
    uint32_t turns;
    uint32_t period; /* of a loop that stores: one of so many iterations counts */
};

/* Whether a loop that should be unrolled ends with block LAST. Sets LOOP.
 * requires: build_graph */
bool find_loop_text(const struct graph *graph, uint32_t last, struct loop_text *loop);

/* Returns the edge of that kind out of the block, or NULL. */
struct edge *find_edge(const struct graph *graph, uint32_t block, enum quipu_edge_kind kind);

#endif
