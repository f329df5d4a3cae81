/* origins.h: what values a loop's registers begin with, and which way they go from there. */
#ifndef QUIPU_FLOW_ORIGINS_H
#define QUIPU_FLOW_ORIGINS_H

#include "flow/graph.h"

/* At any time in the loop the register holds one of its origins, plus steps that were made since.
 * Registers that are copied to each other have all of theirs in common. */
struct origin {
    bool known;
    uint16_t entries; /* what these registers hold where the loop is entered */
    bool is_zero;     /* numbers from 0 to 2^32 - 1 */
    bool is_signed;   /* numbers of 32 bits, extended by their sign */
    bool up, down;    /* it is stepped so */
    uint16_t steps;   /* by these registers, too, which the loop does not write: up, if they are
                         positive */
    uint64_t longest; /* step that is a number */
};

/* Of the loop of BLOCKS whose head is block HEAD; it may hold others.
 * requires: find_liveness */
void find_origins(const struct graph *graph, uint32_t head, const index_list *blocks,
                  struct origin origins[GENERAL_REGISTERS]);

#endif
