/* moment.h: what the files of the software instruction counter offer each other, and to events, of
 * which ticks are a kind. */
#ifndef QUIPU_PASS_MOMENT_MOMENT_H
#define QUIPU_PASS_MOMENT_MOMENT_H

#include "flow/graph.h"

/* potentials.c: what of the ticks is above the cell, by node.
 * requires: find_ticks, find_liveness    makes: potentials of all nodes */
void find_tick_potentials(const struct graph *graph, struct node_potential *potentials);

#endif
