/* loops.h: dominators and natural loops of a graph.
 *
 * Nodes have the numbers of the ends of edges: 0 is the outside, then blocks, then hubs. The target
 * of a back edge, the head, dominates its source. The natural loop of the edge contains the nodes
 * that reach the source without passing the head. */
#ifndef QUIPU_FLOW_LOOPS_H
#define QUIPU_FLOW_LOOPS_H

#include "flow/graph.h"

struct loops {
    struct arena *arena;
    uint32_t nodes;
    index_list *successors, *predecessors; /* nodes, by node; the outside is not a successor of
                                              any node */
    uint32_t *order;                       /* nodes in reverse postorder */
    uint32_t *rank;                        /* the inverse of order; NONE: not reached */
    uint32_t reached;                      /* number of nodes that are reached */
    uint32_t *dominator;                   /* the immediate dominator, by node */
    uint32_t *depth;                       /* number of loops around it, by node */
    uint32_t *cycle;                       /* by node: instructions of the shortest cycle through
                                              it in its innermost loop; or 0 */
    bool *is_head;                         /* by node: it is the head of a loop */
    uint32_t *mark;                        /* by node: the number of the last call of loop_body
                                              that found it */
    uint32_t last_mark;                    /* number of the latest call */
};

/* Finds everything. The result is in the graph's arena. */
void find_loops(struct loops *loops, const struct graph *graph);

/* Finds only successors, predecessors, order, rank and reached. */
void find_order(struct loops *loops, const struct graph *graph);

bool dominates(const struct loops *loops, uint32_t above, uint32_t below);

bool is_back_edge(const struct loops *loops, uint32_t source, uint32_t target);

/* Writes the nodes of HEAD's loops into BODY, in reverse postorder: HEAD is the first. BODY has
 * room for all nodes. Marks the nodes: mark[node] == last_mark. Returns their number. */
uint32_t loop_body(struct loops *loops, uint32_t head, uint32_t *body);

#endif
