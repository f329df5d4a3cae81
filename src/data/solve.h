/* solve.h: from the cells of a function to the counts of all its blocks and edges. */
#ifndef QUIPU_DATA_SOLVE_H
#define QUIPU_DATA_SOLVE_H

#include "data/profile.h"

struct flow_node;

/* Memory that one function after the other uses.  All zero is an empty one. */
struct solver {
    struct flow_node *nodes; /* owned */
    uint32_t *leaves;        /* owned */
    size_t capacity;         /* nodes that there is room for */
    int64_t *blocks;         /* counts; owned */
    size_t block_capacity;
};

/* Fills in the counts of FUNCTION's blocks and edges from CELLS, its first cell on, as
 * format/notes.h tells ("Flow").  Returns false where the arcs without a cell form a cycle: such
 * notes are corrupt, whatever the cells hold. */
bool solve_flow(struct solver *solver, struct function *function, const uint64_t *cells);

/* Returns how many instructions of FUNCTION were executed by CELLS, whose arcs without a cell form
 * no cycle, and leaves its counts as they are. */
uint64_t solve_executed(struct solver *solver, const struct function *function,
                        const uint64_t *cells);

void solver_release(struct solver *solver);

#endif
