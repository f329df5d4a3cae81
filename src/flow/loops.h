/* loops.h: dominators and natural loops of a graph.
 *
 * Nodes are numbered as ends of edges are: 0 the outside, blocks, hubs.  A back edge is one whose
 * target, the head, dominates its source; its natural loop is what reaches the source without
 * passing the head. */
#ifndef QUIPU_FLOW_LOOPS_H
#define QUIPU_FLOW_LOOPS_H

#include "flow/graph.h"

struct loops {
    struct arena *arena;
    uint32_t nodes;
    index_list *successors, *predecessors; /* nodes, by node; the outside is nobody's successor */
    uint32_t *order;                       /* nodes in reverse postorder */
    uint32_t *rank;                        /* its inverse; NONE: not reached */
    uint32_t reached;                      /* nodes that are */
    uint32_t *dominator;                   /* immediate, by node */
    uint32_t *depth;                       /* loops around it, by node */
    uint32_t *cycle;                       /* by node: instructions of the shortest way round
                                              through it, in the innermost of them; or 0 */
    bool *is_head;                         /* by node */
    uint32_t *mark;                        /* by node: the last call of loop_body that found it */
    uint32_t last_mark;                    /* of the latest one */
};

/* All is in the graph's arena. */
void find_loops(struct loops *loops, const struct graph *graph);

/* Makes nothing but successors, predecessors, order, rank and reached. */
void find_order(struct loops *loops, const struct graph *graph);

bool dominates(const struct loops *loops, uint32_t above, uint32_t below);

bool is_back_edge(const struct loops *loops, uint32_t source, uint32_t target);

/* Writes the nodes of HEAD's loops into BODY, which has room for all nodes, in reverse postorder:
 * HEAD first.  Marks them, mark[node] == last_mark.  Returns their number. */
uint32_t loop_body(struct loops *loops, uint32_t head, uint32_t *body);

#endif
