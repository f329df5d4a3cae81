/* flow.h: the flow equations of a function, according to its note.
 *
 * The note's graph may contain a block several times: the shim unrolls small loops, so that no
 * counter waits for itself. Users see the compiler's graph. The count of a copied block is added to
 * that of its original, and the same is done for edges. */
#ifndef QUIPU_DATA_FLOW_H
#define QUIPU_DATA_FLOW_H

#include "data/profile.h"
#include "format/notes.h"

/* An arc of the flow equations: a block of the note, or an edge. */
struct flow_arc {
    uint32_t from, to; /* nodes */
    uint32_t cell;     /* 0: none; n: cell n - 1 */
    uint32_t of;       /* block or edge of the function to which its count is added */
    bool is_edge;
};

struct flow {
    struct flow_arc *arcs;
    size_t arc_count;
    size_t node_count;
    uint32_t cell_count; /* from the function's first cell on */
};

struct noted_block {
    uint32_t block; /* of the function: itself, or its original if it is a copy */
    uint32_t cell;
};

struct noted_edge {
    uint32_t source, target; /* as numbers of the note's blocks */
    enum quipu_edge_kind kind;
    uint32_t cell;
};

/* Makes function.flow, edges, edge_count and the blocks' first_edge and edge_count from the note.
 * The function's blocks must exist. Copies follow them in BLOCKS. All ends must be in range.
 * SCRATCH gets temporary data. */
void build_flow(struct arena *arena, struct arena *scratch, struct function *function,
                const struct noted_block *blocks, size_t block_count,
                const struct noted_edge *edges, size_t edge_count);

#endif
