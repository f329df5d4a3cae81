/* check.h: checks the invariants of a graph after each analysis, and prints the facts that each one
 * found.
 *
 * A check ends the program, or guarded work, if an invariant does not hold. Then quipu has a bug.
 */
#ifndef QUIPU_FLOW_CHECK_H
#define QUIPU_FLOW_CHECK_H

#include "flow/graph.h"

#include <stdio.h>

/* build_graph: ends of edges exist, blocks and edges refer to each other, sizes add up, and only
 * the last instruction of a block transfers control. */
void check_shape(const struct graph *graph);

/* find_frequencies: all are finite numbers, none is negative. */
void check_frequencies(const struct graph *graph);

/* unroll_loops: a copy and its original refer to each other, and have the same instructions. */
void check_copies(const struct graph *graph);

/* find_tails: control never falls through a tail. */
void check_tails(const struct graph *graph);

/* find_liveness: registers and flags that a block reads, or keeps for its successors, are live
 * before it. Those that are live before a block are live after all its predecessors. */
void check_liveness(const struct graph *graph);

/* place_chords: arcs that are not chords close no cycle, so the chords determine them. Code can be
 * inserted on each chord. */
void check_tree(const struct graph *graph);

/* Increments are on chords only. Cells exist. */
void check_counters(const struct graph *graph);

/* dump.c: print the same facts to OUT, in one line for each block or edge that has any. */
void dump_shape(const struct graph *graph, FILE *out);
void dump_frequencies(const struct graph *graph, FILE *out);
void dump_copies(const struct graph *graph, FILE *out);
void dump_tails(const struct graph *graph, FILE *out);
void dump_liveness(const struct graph *graph, FILE *out);
void dump_tree(const struct graph *graph, FILE *out);
void dump_counters(const struct graph *graph, FILE *out);

#endif
