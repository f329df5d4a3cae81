/* check.h: what must hold of a graph behind each analysis, and each one's facts in text.
 *
 * A check ends the program, or guarded work, where its invariant does not hold: a fault of ours. */
#ifndef QUIPU_FLOW_CHECK_H
#define QUIPU_FLOW_CHECK_H

#include "flow/graph.h"

#include <stdio.h>

/* build_graph: ends of edges exist, both ends know their edges, sizes add up, and only the last
 * instruction of a block leads elsewhere. */
void check_shape(const struct graph *graph);

/* find_frequencies: numbers, none below 0. */
void check_frequencies(const struct graph *graph);

/* unroll_loops: a copy and its original know each other, and have the same instructions. */
void check_copies(const struct graph *graph);

/* find_tails: control never goes on behind a tail. */
void check_tails(const struct graph *graph);

/* find_liveness: what a block reads or hands on is live in front of it, in all its predecessors. */
void check_liveness(const struct graph *graph);

/* place_chords: what has no chord closes no cycle, so the rest follows from the chords; and each
 * chord is where code can be put. */
void check_tree(const struct graph *graph);

/* Increments: on chords only, of cells that are there. */
void check_counters(const struct graph *graph);

/* dump.c: the same facts to OUT: one line for each block or edge that has any. */
void dump_shape(const struct graph *graph, FILE *out);
void dump_frequencies(const struct graph *graph, FILE *out);
void dump_copies(const struct graph *graph, FILE *out);
void dump_tails(const struct graph *graph, FILE *out);
void dump_liveness(const struct graph *graph, FILE *out);
void dump_tree(const struct graph *graph, FILE *out);
void dump_counters(const struct graph *graph, FILE *out);

#endif
