/* nodes.h: forests over the nodes of flow equations. The nodes are those of in_node and out_node
 * (graph.h). */
#ifndef QUIPU_FLOW_NODES_H
#define QUIPU_FLOW_NODES_H

#include <stdbool.h>
#include <stdint.h>

/* Joins the trees of nodes X and Y. PARENT has the parent of each node; that of a root is the root
 * itself. Returns false if they are in the same tree already. */
bool join_trees(uint32_t *parent, uint32_t x, uint32_t y);

#endif
