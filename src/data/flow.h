/* flow.h: what a function's counts are solved from, as its note tells it.
 *
 * The note's graph may hold a block several times: the shim unrolls small loops, so that no
 * counter waits for itself.  Users see the graph that the compiler made: the count of a copy is
 * added to that of the block it is a copy of, and likewise for edges. */
#ifndef QUIPU_DATA_FLOW_H
#define QUIPU_DATA_FLOW_H

#include "data/profile.h"
#include "format/notes.h"

/* An arc of the flow equations: a block of the note, or an edge. */
struct flow_arc {
    uint32_t from, to; /* nodes */
    uint32_t cell;     /* 0: none; n: cell n - 1 */
    uint32_t of;       /* block or edge of the function that its count is added to */
    bool is_edge;
};

struct flow {
    struct flow_arc *arcs;
    size_t arc_count;
    size_t node_count;
    uint32_t cell_count; /* from the function's first cell on */
};

struct noted_block {
    uint32_t block; /* of the function: itself, or what it is a copy of */
    uint32_t cell;
};

struct noted_edge {
    uint32_t source, target; /* ends by the note's blocks */
    enum quipu_edge_kind kind;
    uint32_t cell;
};

/* Makes function.flow, edges, edge_count and the blocks' first_edge and edge_count from what the
 * note holds.  The function's blocks must be there; copies stand behind them in BLOCKS.  All ends
 * must be in range.  SCRATCH holds what is not needed afterwards. */
void build_flow(struct arena *arena, struct arena *scratch, struct function *function,
                const struct noted_block *blocks, size_t block_count,
                const struct noted_edge *edges, size_t edge_count);

#endif
