/* min_cut.h: the cheapest cut of a network between its source and its sink. */
#ifndef QUIPU_UTIL_MIN_CUT_H
#define QUIPU_UTIL_MIN_CUT_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CUT_SOURCE = 0, /* nodes */
    CUT_SINK = 1,
    CUT_FIRST = 2 /* the caller's nodes have numbers from here on */
};

/* Of an arc that is never cut. */
static const uint64_t CUT_NEVER = UINT64_C(1) << 60;

struct cut_arc {
    uint32_t target;
    uint32_t next; /* 1 + the next arc of the same node, or 0 */
    uint64_t left; /* what more may flow */
};

/* A network. Its nodes are those that its arcs have. All memory is in ARENA. */
struct cut_network {
    struct arena *arena;
    VECTOR(struct cut_arc) arcs; /* pairs: an arc, and the one that leads back */
    VECTOR(uint32_t) first;      /* by node: 1 + its first arc, or 0 */
    uint32_t *level;             /* by node, of find_min_cut: 0: it is on the source's side */
};

/* Adds an arc that costs COST, at most CUT_NEVER. */
void add_cut_arc(struct cut_network *network, uint32_t from, uint32_t to, uint64_t cost);

/* Finds the cut with the lowest cost; of several, the one that is nearest to the sink. Returns
 * false if there is none that is cheaper than CUT_NEVER, or if it takes too long. */
bool find_min_cut(struct cut_network *network);

/* Whether NODE is on the sink's side of the cut. */
bool is_behind_cut(const struct cut_network *network, uint32_t node);

#endif
