/* min_cut.c: the cheapest cut of a network, by the largest flow through it (Dinic 1970): the flow
 * is raised along shortest ways until there is none. What still leads to the sink is behind the
 * cut.
 *
 * Invariants
 *   - Arcs 2n and 2n + 1 lead between the same nodes, in both directions; what flows through one is
 *     added to what the other has left.
 * Not perfect: of a network in which many lengths of ways occur, none is found. */
#include "util/min_cut.h"

enum {
    PHASES_MOST = 400 /* lengths of ways */
};

static uint32_t partner(uint32_t arc) {
    return arc ^ 1;
}

static void add_half(struct cut_network *network, uint32_t from, uint32_t to, uint64_t left) {
    while (network->first.count <= from || network->first.count <= to)
        vector_push(network->arena, &network->first, 0);
    uint32_t *first = &network->first.data[from];
    struct cut_arc arc = {.target = to, .next = *first, .left = left};
    vector_push(network->arena, &network->arcs, arc);
    *first = (uint32_t)network->arcs.count;
}

void add_cut_arc(struct cut_network *network, uint32_t from, uint32_t to, uint64_t cost) {
    add_half(network, from, to, cost);
    add_half(network, to, from, 0);
}

/* Sets the level of each node that leads to the sink: 1 + the length of the shortest way. Returns
 * whether the source is one. */
static bool find_levels(struct cut_network *network, uint32_t *queue) {
    size_t begin = 0, end = 0;
    for (size_t i = 0; i < network->first.count; i++)
        network->level[i] = 0;
    network->level[CUT_SINK] = 1;
    queue[end++] = CUT_SINK;
    while (begin < end) {
        uint32_t node = queue[begin++];
        for (uint32_t i = network->first.data[node]; i; i = network->arcs.data[i - 1].next) {
            uint32_t from = network->arcs.data[i - 1].target;
            if (network->level[from] || !network->arcs.data[partner(i - 1)].left)
                continue;
            network->level[from] = network->level[node] + 1;
            queue[end++] = from;
        }
    }
    return network->level[CUT_SOURCE];
}

/* Lets as much flow as the WAY of LENGTH arcs can take. Returns that, and sets *KEPT to the number
 * of arcs in front of the first one that can take no more. */
static uint64_t raise_flow(struct cut_network *network, const uint32_t *way, size_t length,
                           size_t *kept) {
    uint64_t flow = CUT_NEVER;
    for (size_t i = 0; i < length; i++)
        if (network->arcs.data[way[i]].left < flow)
            flow = network->arcs.data[way[i]].left;
    *kept = length;
    for (size_t i = length; i-- > 0;) {
        network->arcs.data[way[i]].left -= flow;
        network->arcs.data[partner(way[i])].left += flow;
        if (!network->arcs.data[way[i]].left)
            *kept = i;
    }
    return flow;
}

/* Raises the flow along all ways on which each arc leads one level down. AT: by node, the arc that
 * is tried next. Returns false if a way has only arcs that are never cut. */
static bool raise_flows(struct cut_network *network, uint32_t *at, uint32_t *way) {
    size_t length = 0;
    for (size_t i = 0; i < network->first.count; i++)
        at[i] = network->first.data[i];
    for (uint32_t node = CUT_SOURCE;;) {
        if (node == CUT_SINK) {
            if (raise_flow(network, way, length, &length) >= CUT_NEVER / 2)
                return false;
            node = length ? network->arcs.data[way[length - 1]].target : CUT_SOURCE;
            continue;
        }
        uint32_t arc = at[node];
        const struct cut_arc *a = arc ? &network->arcs.data[arc - 1] : NULL;
        if (a && a->left && network->level[a->target] &&
            network->level[a->target] + 1 == network->level[node]) {
            way[length++] = arc - 1;
            node = a->target;
        } else if (a) {
            at[node] = a->next;
        } else if (length == 0) {
            return true;
        } else { /* no way leads on from here */
            node = network->arcs.data[partner(way[--length])].target;
            at[node] = network->arcs.data[at[node] - 1].next;
        }
    }
}

bool find_min_cut(struct cut_network *network) {
    while (network->first.count < CUT_FIRST)
        vector_push(network->arena, &network->first, 0);
    size_t nodes = network->first.count;
    uint32_t *at = ARENA_ARRAY(network->arena, uint32_t, nodes);
    uint32_t *way = ARENA_ARRAY(network->arena, uint32_t, nodes);
    network->level = ARENA_ARRAY(network->arena, uint32_t, nodes);
    for (int phase = 0; phase < PHASES_MOST; phase++) {
        if (!find_levels(network, way))
            return true;
        if (!raise_flows(network, at, way))
            return false;
    }
    return false;
}

bool is_behind_cut(const struct cut_network *network, uint32_t node) {
    return network->level[node];
}
