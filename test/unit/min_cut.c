// The cheapest cut of random networks costs what the cheapest of all cuts costs, and separates the
// source from the sink.
#include "util/min_cut.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    NODES = 9,
    ARCS = 24,
    NETWORKS = 3000,
    NEVER_EVERY = 12 /* one of so many arcs is never cut */
};

struct plain_arc {
    uint32_t from, to;
    uint64_t cost;
};

static uint64_t cost_of(const struct plain_arc arcs[ARCS], unsigned behind) {
    uint64_t cost = 0;
    for (int i = 0; i < ARCS; i++)
        if (!(behind >> arcs[i].from & 1) && behind >> arcs[i].to & 1)
            cost += arcs[i].cost;
    return cost;
}

/* Tries all cuts. LATEST: of those with the lowest cost, the one with the fewest nodes behind it.
 */
static uint64_t cheapest(const struct plain_arc arcs[ARCS], unsigned *latest) {
    uint64_t best = UINT64_MAX;
    for (unsigned set = 0; set < 1u << NODES; set++) {
        if (set >> CUT_SOURCE & 1 || !(set >> CUT_SINK & 1))
            continue;
        uint64_t cost = cost_of(arcs, set);
        if (cost < best ||
            (cost == best && __builtin_popcount(set) < __builtin_popcount(*latest))) {
            best = cost;
            *latest = set;
        }
    }
    return best;
}

static void fail(int number, const char *what) {
    fprintf(stderr, "network %d: %s\n", number, what);
    exit(1);
}

static bool check(int number) {
    struct plain_arc arcs[ARCS];
    struct arena arena = {0};
    struct cut_network network = {.arena = &arena};
    for (int i = 0; i < ARCS; i++) {
        arcs[i] = (struct plain_arc){(uint32_t)rand() % NODES, (uint32_t)rand() % NODES,
                                     (uint64_t)rand() % 20 + 1};
        if (rand() % NEVER_EVERY == 0)
            arcs[i].cost = CUT_NEVER;
        add_cut_arc(&network, arcs[i].from, arcs[i].to, arcs[i].cost);
    }
    unsigned latest = 0, behind = 0;
    uint64_t best = cheapest(arcs, &latest);
    bool found = find_min_cut(&network);
    if (found != best < CUT_NEVER)
        fail(number, "whether there is a cut");
    for (uint32_t i = 0; found && i < network.first.count; i++)
        behind |= (unsigned)is_behind_cut(&network, i) << i;
    if (found && cost_of(arcs, behind) != best)
        fail(number, "the cut is not the cheapest");
    if (found && behind != latest)
        fail(number, "the cut is not the one nearest to the sink");
    arena_release(&arena);
    return found;
}

int main(void) {
    int found = 0;
    for (int i = 0; i < NETWORKS; i++)
        found += check(i);
    return found > NETWORKS / 4 && found < NETWORKS ? 0 : (fail(found, "are cut"), 1);
}
