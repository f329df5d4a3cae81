/* arcs.h: finds the arcs of flow equations by the nodes at their ends.
 *
 * Each pass has its own type of arcs, which begins with the ends. */
#ifndef QUIPU_FLOW_ARCS_H
#define QUIPU_FLOW_ARCS_H

#include "util/arena.h"

#include <stdint.h>

struct arc_ends {
    uint32_t from, to; /* nodes */
};

/* The arcs at NODE have the numbers at[first[NODE]] up to at[first[NODE + 1]], the last excluded.
 */
struct meeting_arcs {
    const uint32_t *first;
    const uint32_t *at;
};

/* ARCS: COUNT structures of SIZE bytes, each of which begins with a struct arc_ends. All nodes are
 * less than NODES. An arc is at a node twice if both of its ends are that node. The result is in
 * ARENA. */
struct meeting_arcs find_meeting_arcs(struct arena *arena, const void *arcs, uint32_t count,
                                      size_t size, uint32_t nodes);

/* Returns the end of an arc that is not NODE. */
static inline uint32_t other_end(const struct arc_ends *ends, uint32_t node) {
    return ends->from == node ? ends->to : ends->from;
}

#endif
