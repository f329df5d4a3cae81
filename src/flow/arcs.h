/* arcs.h: the arcs of flow equations, by the nodes that they meet.
 *
 * Each pass has arcs of its own kind, with what it wants to know of them, behind their ends. */
#ifndef QUIPU_FLOW_ARCS_H
#define QUIPU_FLOW_ARCS_H

#include "util/arena.h"

#include <stdint.h>

struct arc_ends {
    uint32_t from, to; /* nodes */
};

/* At NODE meet the arcs of which the numbers are at[first[NODE]] up to at[first[NODE + 1]]. */
struct meeting_arcs {
    const uint32_t *first;
    const uint32_t *at;
};

/* ARCS: COUNT of SIZE bytes each, which begin with a struct arc_ends of nodes below NODES.  An arc
 * meets a node twice where both of its ends are the same.  The result is in the arena. */
struct meeting_arcs find_meeting_arcs(struct arena *arena, const void *arcs, uint32_t count,
                                      size_t size, uint32_t nodes);

/* The end of an arc that is not NODE. */
static inline uint32_t other_end(const struct arc_ends *ends, uint32_t node) {
    return ends->from == node ? ends->to : ends->from;
}

#endif
