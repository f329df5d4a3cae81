/* origins.h: the initial values of a loop's registers, and the direction of their steps. */
#ifndef QUIPU_FLOW_ORIGINS_H
#define QUIPU_FLOW_ORIGINS_H

#include "flow/graph.h"

/* At any time in the loop, a register holds one of its origins plus the steps made since then.
 * Registers that are copied to each other share all origins. */
struct origin {
    bool known;
    uint16_t entries; /* the values of these registers where the loop is entered */
    bool is_zero;     /* numbers from 0 to 2^32 - 1 */
    bool is_signed;   /* sign-extended numbers of 32 bits */
    bool up, down;    /* the direction of its steps */
    uint16_t steps;   /* it is also stepped by these registers, which the loop does not write:
                         up, if they are positive */
    uint64_t longest; /* the longest constant step */
};

/* Finds the origins in the loop of BLOCKS. Its head is block HEAD. It may contain other loops.
 * requires: find_liveness */
void find_origins(const struct graph *graph, uint32_t head, const index_list *blocks,
                  struct origin origins[GENERAL_REGISTERS]);

#endif
