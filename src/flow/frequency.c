/* frequency.c: how often each block runs, guessed from loops.
 *
 * Dominators by the iterative algorithm of Cooper, Harvey and Kennedy (2001); a back edge is one
 * whose target dominates its source, and its natural loop is what reaches the source without
 * passing the target.  Frequencies flow down from the entry in reverse postorder: a branch divides
 * them evenly among its ways, but ways out of a loop get little; a loop's head multiplies them.
 * Code in a cold piece runs rarely.
 *
 * Not perfect: it is a guess.  Counts do not depend on it, only their cost.
 *
 * requires: build_graph    makes: loop_depth, frequency of blocks and edges */
#include "flow/graph.h"

static const double LOOP_FACTOR = 8;    /* turns of a loop */
static const double COLD_FACTOR = 1e-3; /* of a cold piece, or where a call does not return */
static const double FREQUENCY_MAX = 1e12;

struct analysis {
    struct graph *graph;
    uint32_t nodes; /* 0: outside; blocks; hubs: as ends of edges are numbered */
    index_list *successors, *predecessors;
    uint32_t *order; /* nodes in reverse postorder */
    uint32_t *rank;  /* its inverse; NONE: not reached */
    uint32_t reached;
    uint32_t *dominator; /* immediate */
    uint32_t *depth;
    bool *is_head;
};

static void collect_arcs(struct analysis *a) {
    struct graph *graph = a->graph;
    a->successors = ARENA_ARRAY(graph->arena, index_list, a->nodes);
    a->predecessors = ARENA_ARRAY(graph->arena, index_list, a->nodes);
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        if (edge->target == 0)
            continue;
        vector_push(graph->arena, &a->successors[edge->source], edge->target);
        vector_push(graph->arena, &a->predecessors[edge->target], edge->source);
    }
}

/* Depth first from the outside, with a stack of our own: functions can be large. */
static void number_nodes(struct analysis *a) {
    struct arena *arena = a->graph->arena;
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, a->nodes + 1);
    size_t *next = ARENA_ARRAY(arena, size_t, a->nodes);
    bool *seen = ARENA_ARRAY(arena, bool, a->nodes);
    uint32_t *postorder = ARENA_ARRAY(arena, uint32_t, a->nodes);
    uint32_t depth = 0, count = 0;
    stack[depth++] = 0;
    seen[0] = true;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (next[node] == a->successors[node].count) {
            postorder[count++] = node;
            depth--;
            continue;
        }
        uint32_t to = a->successors[node].data[next[node]++];
        if (!seen[to]) {
            seen[to] = true;
            stack[depth++] = to;
        }
    }
    a->reached = count;
    a->order = ARENA_ARRAY(arena, uint32_t, a->nodes);
    a->rank = ARENA_ARRAY(arena, uint32_t, a->nodes);
    for (uint32_t i = 0; i < a->nodes; i++)
        a->rank[i] = NONE;
    for (uint32_t i = 0; i < count; i++) {
        a->order[i] = postorder[count - 1 - i];
        a->rank[a->order[i]] = i;
    }
}

static uint32_t common_dominator(const struct analysis *a, uint32_t x, uint32_t y) {
    while (x != y) {
        while (a->rank[x] > a->rank[y])
            x = a->dominator[x];
        while (a->rank[y] > a->rank[x])
            y = a->dominator[y];
    }
    return x;
}

static void find_dominators(struct analysis *a) {
    a->dominator = ARENA_ARRAY(a->graph->arena, uint32_t, a->nodes);
    for (uint32_t i = 1; i < a->nodes; i++)
        a->dominator[i] = NONE;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < a->reached; i++) {
            uint32_t node = a->order[i], best = NONE;
            for (size_t p = 0; p < a->predecessors[node].count; p++) {
                uint32_t from = a->predecessors[node].data[p];
                if (a->rank[from] == NONE || a->dominator[from] == NONE)
                    continue;
                best = best == NONE ? from : common_dominator(a, from, best);
            }
            changed |= best != a->dominator[node];
            a->dominator[node] = best;
        }
    }
}

static bool dominates(const struct analysis *a, uint32_t above, uint32_t below) {
    while (a->rank[below] > a->rank[above])
        below = a->dominator[below];
    return below == above;
}

static bool is_back_edge(const struct analysis *a, uint32_t source, uint32_t target) {
    return target && a->rank[source] != NONE && a->rank[target] != NONE &&
           dominates(a, target, source);
}

/* Adds one to the depth of all that reaches SOURCE without passing HEAD.  MARK is scratch. */
static void mark_loop(struct analysis *a, uint32_t head, uint32_t *mark, uint32_t *stack) {
    uint32_t count = 0;
    mark[head] = head;
    a->depth[head]++;
    for (size_t p = 0; p < a->predecessors[head].count; p++) {
        uint32_t source = a->predecessors[head].data[p];
        if (is_back_edge(a, source, head) && mark[source] != head) {
            mark[source] = head;
            stack[count++] = source;
        }
    }
    while (count) {
        uint32_t node = stack[--count];
        a->depth[node]++;
        for (size_t p = 0; p < a->predecessors[node].count; p++) {
            uint32_t from = a->predecessors[node].data[p];
            if (a->rank[from] != NONE && mark[from] != head) {
                mark[from] = head;
                stack[count++] = from;
            }
        }
    }
}

static void find_loops(struct analysis *a) {
    struct arena *arena = a->graph->arena;
    a->depth = ARENA_ARRAY(arena, uint32_t, a->nodes);
    a->is_head = ARENA_ARRAY(arena, bool, a->nodes);
    uint32_t *mark = ARENA_ARRAY(arena, uint32_t, a->nodes);
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, a->nodes);
    for (uint32_t i = 1; i < a->reached; i++) {
        uint32_t head = a->order[i];
        for (size_t p = 0; p < a->predecessors[head].count && !a->is_head[head]; p++)
            a->is_head[head] = is_back_edge(a, a->predecessors[head].data[p], head);
        if (a->is_head[head])
            mark_loop(a, head, mark, stack);
    }
}

/* How often a branch is taken that goes far, over more than one block or back to where no loop's
 * head is: compilers put what they take for likely right behind the branch.  Where it leads to a
 * call or a return, that is seldomer still (the call and return heuristics of Ball and Larus,
 * "Branch Prediction for Free", 1993). Rates are those of lua, bzip2, sqlite3, grep and flex at
 * -O2, each branch counting once. */
static const double FAR_RATE = 0.36, FAR_TO_CALL_RATE = 0.26, FAR_TO_RETURN_RATE = 0.30;

static double odds(double rate) {
    return rate / (1 - rate);
}

static bool goes_far(const struct analysis *a, const struct edge *edge) {
    if (edge->kind != QUIPU_EDGE_TAKEN)
        return false;
    return edge->target > edge->source + 2 ||
           (edge->target <= edge->source && !is_back_edge(a, edge->source, edge->target));
}

/* What the way that an edge goes says about how often it is taken. */
static double target_share(const struct analysis *a, const struct edge *edge) {
    const struct graph *graph = a->graph;
    if (!is_block(graph, edge->target) ||
        (edge->kind != QUIPU_EDGE_TAKEN && edge->kind != QUIPU_EDGE_NOT_TAKEN))
        return 1;
    const struct basic_block *target = &graph->blocks.data[edge->target - 1];
    const struct graph_instruction *last = last_instruction(graph, target);
    uint8_t class = last ? last->decoded->class : CLASS_PLAIN;
    bool stops = class == CLASS_CALL && target->out.count == 1 && !call_returns(graph, last);
    if (class == CLASS_STOP || stops)
        return COLD_FACTOR;
    if (!goes_far(a, edge))
        return 1;
    if (class == CLASS_CALL || class == CLASS_CALL_INDIRECT)
        return odds(FAR_TO_CALL_RATE);
    return odds(class == CLASS_RETURN ? FAR_TO_RETURN_RATE : FAR_RATE);
}

/* The share of its source's executions that an edge gets, before all shares are made to add up to
 * one. */
static double edge_share(const struct analysis *a, const struct edge *edge) {
    const struct graph *graph = a->graph;
    if (edge->kind == QUIPU_EDGE_CALL_LOST)
        return COLD_FACTOR;
    if (edge->target == 0)
        return 0.5;
    if (is_block(graph, edge->target) && is_block(graph, edge->source) &&
        graph->blocks.data[edge->target - 1].fragment !=
            graph->blocks.data[edge->source - 1].fragment)
        return COLD_FACTOR;
    uint32_t from = a->depth[edge->source], to = a->depth[edge->target];
    if (to < from)
        return target_share(a, edge) / LOOP_FACTOR;
    return target_share(a, edge);
}

static void spread_frequency(struct analysis *a, double *frequency) {
    struct graph *graph = a->graph;
    double *total = ARENA_ARRAY(graph->arena, double, a->nodes);
    for (size_t i = 0; i < graph->edges.count; i++)
        total[graph->edges.data[i].source] += edge_share(a, &graph->edges.data[i]);
    index_list *in = ARENA_ARRAY(graph->arena, index_list, a->nodes);
    for (uint32_t i = 0; i < graph->edges.count; i++)
        if (graph->edges.data[i].target)
            vector_push(graph->arena, &in[graph->edges.data[i].target], i);
    frequency[0] = 1;
    for (uint32_t i = 1; i < a->reached; i++) {
        uint32_t node = a->order[i];
        double sum = 0;
        for (size_t p = 0; p < in[node].count; p++) {
            const struct edge *edge = &graph->edges.data[in[node].data[p]];
            if (a->rank[edge->source] == NONE || is_back_edge(a, edge->source, node))
                continue;
            double way = edge->source == 0
                             ? (edge->kind == QUIPU_EDGE_ENTRY ? 1 : COLD_FACTOR)
                             : frequency[edge->source] * edge_share(a, edge) / total[edge->source];
            sum += way;
        }
        sum *= a->is_head[node] ? LOOP_FACTOR : 1;
        frequency[node] = sum < FREQUENCY_MAX ? sum : FREQUENCY_MAX;
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        struct edge *edge = &graph->edges.data[i];
        edge->frequency = total[edge->source] > 0
                              ? frequency[edge->source] * edge_share(a, edge) / total[edge->source]
                              : 0;
    }
}

/* ---- an earlier run's counts ---- */

static struct code_place place_of(const struct graph *graph, uint32_t block, bool last) {
    const struct basic_block *b = &graph->blocks.data[block];
    struct code_place place = {b->fragment, b->offset};
    const struct graph_instruction *instruction = last_instruction(graph, b);
    if (last && instruction)
        place.offset = b->offset + b->size - instruction->decoded->size;
    return place;
}

/* A little is left of the guess, so that among places that never ran the better one is taken. */
static const double GUESS_SHARE = 1e-6;

static void use_earlier(struct graph *graph, const struct earlier_counts *earlier) {
    const struct symbol *symbol = &graph->unit->symbols.data[graph->function->symbol];
    char *name = arena_copy(graph->arena, symbol->name, symbol->length);
    if (!earlier->find_function(earlier->context, name, (uint32_t)graph->instructions.count))
        return;
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        struct basic_block *block = &graph->blocks.data[i];
        block->frequency = GUESS_SHARE * block->frequency +
                           earlier->count_instruction(earlier->context, place_of(graph, i, false));
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        struct edge *edge = &graph->edges.data[i];
        edge->frequency *= GUESS_SHARE;
        if (is_block(graph, edge->source) && is_block(graph, edge->target))
            edge->frequency +=
                earlier->count_edge(earlier->context, place_of(graph, edge->source - 1, true),
                                    place_of(graph, edge->target - 1, false));
    }
}

void find_frequencies(struct graph *graph, const struct earlier_counts *earlier) {
    struct analysis a = {.graph = graph,
                         .nodes = 1 + (uint32_t)graph->blocks.count + graph->hub_count};
    double *frequency = ARENA_ARRAY(graph->arena, double, a.nodes);
    collect_arcs(&a);
    number_nodes(&a);
    find_dominators(&a);
    find_loops(&a);
    spread_frequency(&a, frequency);
    for (size_t i = 0; i < graph->blocks.count; i++) {
        graph->blocks.data[i].loop_depth = a.depth[i + 1];
        graph->blocks.data[i].frequency = frequency[i + 1];
    }
    if (earlier)
        use_earlier(graph, earlier);
}
