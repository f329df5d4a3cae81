/* solve.h: from the cells of a function to the counts of all its blocks and edges. */
#ifndef QUIPU_DATA_SOLVE_H
#define QUIPU_DATA_SOLVE_H

#include "data/profile.h"

struct flow_node;

/* Memory that is used for one function after the other. All zero is an empty one. */
struct solver {
    struct flow_node *nodes; /* owned */
    uint32_t *leaves;        /* owned */
    size_t capacity;         /* number of nodes in the arrays */
    int64_t *blocks;         /* counts of blocks; owned */
    size_t block_capacity;
};

/* Fills in the counts of FUNCTION's blocks and edges from CELLS, which begin with its first cell
 * (format/notes.h, "Flow"). Returns false if arcs without a cell form a cycle. Such notes are
 * corrupt, whatever the values of the cells are. */
bool solve_flow(struct solver *solver, struct function *function, const uint64_t *cells);

/* Returns how many instructions of FUNCTION were executed according to CELLS, and keeps its counts.
 * Its arcs without a cell must form no cycle. */
uint64_t solve_executed(struct solver *solver, const struct function *function,
                        const uint64_t *cells);

void solver_release(struct solver *solver);

#endif
