/* moment.h: declarations shared by the files of the software instruction counter and of events, of
 * which ticks are a kind. */
#ifndef QUIPU_PASS_MOMENT_MOMENT_H
#define QUIPU_PASS_MOMENT_MOMENT_H

#include "flow/graph.h"

/* potentials.c: finds how many ticks there are above the cell, at each node.
 * requires: find_ticks, find_liveness    makes: potentials of all nodes */
void find_tick_potentials(const struct graph *graph, struct node_potential *potentials);

#endif
