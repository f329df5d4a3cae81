/* potentials.c: potentials of ticks. They decide where code adds to the software instruction
 * counter.
 *
 * All potentials are exact, as long as arcs that cannot hold code add nothing. An arc adds the
 * potential of its source, plus its events, minus the potential of its target (Ball 1994, section
 * 3; event.c). For ticks a spanning tree does not give the best potentials: it is chosen before the
 * events are known, and most arcs have none. So this file begins with an addition at each edge that
 * ticks, as in Mellor-Crummey and LeBlanc 1989. Then it moves additions, the costliest first: the
 * node behind one, or in front of it, gets a potential at which the arc adds nothing. Other arcs
 * then add something. If that is costly, the nodes across these arcs are moved too. So one addition
 * can serve several iterations of an unrolled loop, or an entry and the loop behind it. The units
 * that move are groups: nodes joined by arcs that cannot hold code. The group of the outside does
 * not move.
 *
 * requires: find_ticks, find_liveness    makes: potentials of all nodes
 * Invariant: no arc subtracts ticks, except where it must: between a block that is entered from the
 * outside, which adds a tick for that, and the blocks in front of it. The count of a signal handler
 * does not contain what the interrupted function has above the cell. As long as the cell only
 * grows, no two moments in handlers are the same.
 * Not perfect: the search ends when no such move gains anything. There may be a better result. */
#include "flow/arcs.h"
#include "pass/moment/moment.h"

#include "util/diag.h"

#include <math.h>
#include <stdlib.h>

enum {
    ROUNDS = 8,
    TOGETHER = 16
};

/* Ticks are subtracted only if there is no alternative. */
static const double COST_TAKEN_AWAY = 1e9;

/* A smaller gain, for each call of the function, is not worth a move. */
static const double GAIN_LEAST = 1e-3;

struct arc {
    struct arc_ends ends; /* between groups */
    int32_t amount;
    uint32_t number; /* makes the order of equal costs definite */
    double cost;
};

struct groups {
    const struct graph *graph;
    uint32_t *parent; /* by node: its parent (union-find), ... */
    int32_t *above;   /* ... its potential minus that of its parent, ... */
    uint32_t *size;   /* ... and the number of nodes below it, itself included */
    struct arc *arcs; /* between different groups */
    uint32_t count;
    struct meeting_arcs meeting; /* by group */
    int32_t *shift;              /* by group */
    bool *chosen;                /* by group: the shift under test moves it */
    uint32_t outside;
};

/* Returns the node's group. *VALUE: the node's potential minus that of the group. */
static uint32_t find_group(const struct groups *groups, uint32_t node, int32_t *value) {
    *value = 0;
    while (groups->parent[node] != node) {
        *value += groups->above[node];
        node = groups->parent[node];
    }
    return node;
}

/* Joins the groups of two nodes between which there can be no code. From FROM to TO the potential
 * rises by RISE. */
static void join(struct groups *groups, uint32_t from, uint32_t to, int32_t rise) {
    int32_t from_value, to_value;
    from = find_group(groups, from, &from_value);
    to = find_group(groups, to, &to_value);
    int32_t above = from_value + rise - to_value; /* TO's group minus FROM's */
    CHECK(from != to);                            /* such arcs close no cycle: tree.c */
    if (groups->size[from] < groups->size[to]) {
        groups->parent[from] = to;
        groups->above[from] = -above;
        groups->size[to] += groups->size[from];
    } else {
        groups->parent[to] = from;
        groups->above[to] = above;
        groups->size[from] += groups->size[to];
    }
}

static void find_groups(struct groups *groups) {
    const struct graph *graph = groups->graph;
    uint32_t nodes = node_count(graph);
    groups->parent = ARENA_ARRAY(graph->arena, uint32_t, nodes);
    groups->above = ARENA_ARRAY(graph->arena, int32_t, nodes);
    groups->size = ARENA_ARRAY(graph->arena, uint32_t, nodes);
    for (uint32_t i = 0; i < nodes; i++) {
        groups->parent[i] = i;
        groups->size[i] = 1;
    }
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (!graph->blocks.data[i].countable)
            join(groups, in_node(graph, i + 1), out_node(graph, i + 1), 0);
    for (uint32_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        if (!edge->countable)
            join(groups, out_node(graph, edge->source), in_node(graph, edge->target), edge->ticks);
    }
}

static void add_arc(struct groups *groups, uint32_t from, uint32_t to, int32_t ticks, double cost) {
    int32_t from_value, to_value;
    struct arc arc = {
        .ends = {find_group(groups, from, &from_value), find_group(groups, to, &to_value)},
        .number = groups->count,
        .cost = cost};
    arc.amount = from_value + ticks - to_value;
    if (arc.ends.from != arc.ends.to)
        groups->arcs[groups->count++] = arc;
}

static void collect_arcs(struct groups *groups) {
    const struct graph *graph = groups->graph;
    groups->arcs =
        ARENA_ARRAY(graph->arena, struct arc, graph->blocks.count + graph->edges.count + 1);
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        if (block->countable)
            add_arc(groups, in_node(graph, i + 1), out_node(graph, i + 1), 0,
                    block_cost(graph, block));
    }
    for (uint32_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        if (edge->countable)
            add_arc(groups, out_node(graph, edge->source), in_node(graph, edge->target),
                    edge->ticks, edge_cost(graph, edge));
    }
}

static double cost_of(const struct arc *arc, int32_t amount) {
    return amount < 0 ? COST_TAKEN_AWAY + arc->cost : amount > 0 ? arc->cost : 0;
}

/* Groups that are shifted together. */
struct shifted {
    uint32_t groups[TOGETHER];
    uint32_t count;
    int32_t by;
};

/* Returns how much less the arcs at the border of the groups cost after the shift. *NEXT: the group
 * across the arc whose cost grows most, or the outside's group. */
static double gain_of(const struct groups *groups, const struct shifted *shifted, uint32_t *next) {
    const struct meeting_arcs *meeting = &groups->meeting;
    double gain = 0, worst = 0;
    *next = groups->outside;
    for (uint32_t i = 0; i < shifted->count; i++) {
        uint32_t group = shifted->groups[i];
        for (uint32_t m = meeting->first[group]; m < meeting->first[group + 1]; m++) {
            const struct arc *arc = &groups->arcs[meeting->at[m]];
            uint32_t other = other_end(&arc->ends, group);
            if (groups->chosen[other])
                continue;
            int32_t amount = arc->amount + (arc->ends.from == group ? shifted->by : -shifted->by);
            double less = cost_of(arc, arc->amount) - cost_of(arc, amount);
            gain += less;
            if (less < worst) {
                worst = less;
                *next = other;
            }
        }
    }
    return gain;
}

/* Finds the best shift of GROUP, with those groups that it would make costly: as many as gain most.
 * Returns the gain, and those groups in SHIFTED. */
static double find_gain(const struct groups *groups, uint32_t group, struct shifted *shifted) {
    double most = 0;
    uint32_t best = 0, next = group;
    shifted->count = 0;
    while (shifted->count < TOGETHER && next != groups->outside) {
        groups->chosen[next] = true;
        shifted->groups[shifted->count++] = next;
        double gain = gain_of(groups, shifted, &next);
        if (gain <= most)
            continue;
        most = gain;
        best = shifted->count;
    }
    for (uint32_t i = 0; i < shifted->count; i++)
        groups->chosen[shifted->groups[i]] = false;
    shifted->count = best;
    return most;
}

static void shift_groups(const struct groups *groups, const struct shifted *shifted) {
    const struct meeting_arcs *meeting = &groups->meeting;
    for (uint32_t i = 0; i < shifted->count; i++) {
        uint32_t group = shifted->groups[i];
        for (uint32_t m = meeting->first[group]; m < meeting->first[group + 1]; m++) {
            struct arc *arc = &groups->arcs[meeting->at[m]];
            arc->amount += arc->ends.from == group ? shifted->by : -shifted->by;
        }
        groups->shift[group] += shifted->by;
    }
}

/* Moves the addition on the arc away if that gains something: shifts the groups behind it, or those
 * in front of it. Returns whether it did. */
static bool improve_arc(const struct groups *groups, const struct arc *arc) {
    struct shifted behind = {.by = arc->amount}, before = {.by = -arc->amount};
    double gain_behind = find_gain(groups, arc->ends.to, &behind);
    double gain_before = find_gain(groups, arc->ends.from, &before);
    if (gain_behind < GAIN_LEAST && gain_before < GAIN_LEAST)
        return false;
    shift_groups(groups, gain_behind > gain_before ? &behind : &before);
    return true;
}

static int compare_arcs(const void *left, const void *right) {
    const struct arc *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost > b->cost ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

void find_tick_potentials(const struct graph *graph, struct node_potential *potentials) {
    uint32_t nodes = node_count(graph);
    struct groups groups = {.graph = graph};
    find_groups(&groups);
    collect_arcs(&groups);
    qsort(groups.arcs, groups.count, sizeof *groups.arcs, compare_arcs);
    groups.meeting =
        find_meeting_arcs(graph->arena, groups.arcs, groups.count, sizeof *groups.arcs, nodes);
    groups.shift = ARENA_ARRAY(graph->arena, int32_t, nodes);
    groups.chosen = ARENA_ARRAY(graph->arena, bool, nodes);
    int32_t outside, value;
    groups.outside = find_group(&groups, 0, &outside);
    bool improved = true;
    for (int round = 0; improved && round < ROUNDS; round++) {
        improved = false;
        for (uint32_t i = 0; i < groups.count; i++)
            if (groups.arcs[i].amount)
                improved |= improve_arc(&groups, &groups.arcs[i]);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t group = find_group(&groups, node, &value);
        potentials[node] = (struct node_potential){value + groups.shift[group] - outside, true};
    }
}
