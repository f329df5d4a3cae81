/* frequency.c: guesses how often each block runs.
 *
 * Each edge out of a block has a probability. It is guessed from loops, and from the target of a
 * branch. The frequencies follow as in Wu and Larus, "Static Branch Frequency and Program Profile
 * Analysis" (1994), inner loops first. Each time a loop is entered, its head runs 1 / (1 - P)
 * times, where P is the probability that control returns to the head. Then the flow is computed
 * from the entry down, in reverse postorder. Code in a cold fragment runs rarely.
 *
 * Not perfect: it is a guess. It changes only the cost of counts, never the counts.
 *
 * requires: build_graph   makes: loop_depth, cycle, frequency of blocks and edges */
#include "flow/loops.h"
#include "format/notes.h"

static const double LOOP_FACTOR = 8;    /* iterations of a loop about which nothing is known */
static const double CALLING_FACTOR = 1; /* of a loop around a call of its own function */
static const double TURNS_MAX = 2000;   /* of any loop */
static const double COLD_FACTOR = 1e-3; /* of a cold fragment, or if a call does not return */
static const double FREQUENCY_MAX = 1e12;

struct guess {
    struct graph *graph;
    struct loops loops;
    double *probability; /* of each edge, if its source runs */
    index_list *in;      /* edges, by target */
    bool *calls_itself;  /* by node: its innermost loop calls the function; NULL: no loop does */
    double *turns;       /* by node: iterations of the loop that it heads; otherwise 1 */
    double *frequency;   /* by node */
};

/* How often a branch is taken whose target is far: over more than one block ahead, or back at a
 * block that is not the loop's head. Compilers place the code that they consider likely directly
 * behind the branch. The rate is lower if the target ends in a call or a return (the call and
 * return heuristics of Ball and Larus, "Branch Prediction for Free", 1993). The rates were measured
 * with lua, bzip2, sqlite3, grep and flex at -O2. Each branch counts once. */
static const double FAR_RATE = 0.36, FAR_TO_CALL_RATE = 0.26, FAR_TO_RETURN_RATE = 0.30;

static double odds(double rate) {
    return rate / (1 - rate);
}

static bool goes_far(const struct guess *g, const struct edge *edge) {
    if (edge->kind != QUIPU_EDGE_TAKEN)
        return false;
    return edge->target > edge->source + 2 ||
           (edge->target <= edge->source && !is_back_edge(&g->loops, edge->source, edge->target));
}

/* Returns the share that the target of an edge suggests. */
static double target_share(const struct guess *g, const struct edge *edge) {
    const struct graph *graph = g->graph;
    if (!is_block(graph, edge->target) ||
        (edge->kind != QUIPU_EDGE_TAKEN && edge->kind != QUIPU_EDGE_NOT_TAKEN))
        return 1;
    const struct basic_block *target = &graph->blocks.data[edge->target - 1];
    const struct graph_instruction *last = last_instruction(graph, target);
    uint8_t class = last ? last->decoded->class : CLASS_PLAIN;
    bool stops = class == CLASS_CALL && target->out.count == 1 && !call_returns(graph, last);
    if (class == CLASS_STOP || stops)
        return COLD_FACTOR;
    if (!goes_far(g, edge))
        return 1;
    if (is_call_class(class))
        return odds(FAR_TO_CALL_RATE);
    return odds(class == CLASS_RETURN ? FAR_TO_RETURN_RATE : FAR_RATE);
}

/* ---- recursion ---- */

/* Whether the block at NODE ends in a call of its own function. */
static bool is_own_call(const struct graph *graph, uint32_t node) {
    if (!is_block(graph, node))
        return false;
    const struct graph_instruction *last = last_instruction(graph, &graph->blocks.data[node - 1]);
    return last && last->decoded->class == CLASS_CALL &&
           graph->unit->statements.data[last->statement].symbol == graph->function->symbol;
}

/* Finds the loops that contain a call of their own function. The number of calls is a power of the
 * number of iterations. So there are few iterations, otherwise the program would not end. gcc
 * inlines some levels of such calls. They become nested loops. */
static void find_own_calls(struct guess *g) {
    struct loops *loops = &g->loops;
    struct arena *arena = g->graph->arena;
    bool *calls = ARENA_ARRAY(arena, bool, loops->nodes), any = false;
    for (uint32_t node = 1; node < loops->nodes; node++)
        any |= calls[node] = loops->depth[node] > 0 && is_own_call(g->graph, node);
    if (!any)
        return;
    uint32_t *body = ARENA_ARRAY(arena, uint32_t, loops->nodes);
    g->calls_itself = ARENA_ARRAY(arena, bool, loops->nodes);
    for (uint32_t i = 1; i < loops->reached; i++) { /* inner loops follow outer ones */
        if (!loops->is_head[loops->order[i]])
            continue;
        uint32_t count = loop_body(loops, loops->order[i], body);
        bool found = false;
        for (uint32_t j = 0; j < count; j++)
            found |= calls[body[j]];
        for (uint32_t j = 0; j < count; j++)
            g->calls_itself[body[j]] = found;
    }
}

/* ---- probabilities ---- */

/* Returns an edge's share of the executions of its source, before the shares are scaled to a sum of
 * one. */
static double edge_share(const struct guess *g, const struct edge *edge) {
    const struct graph *graph = g->graph;
    if (edge->kind == QUIPU_EDGE_CALL_LOST || edge->kind == QUIPU_EDGE_STOP)
        return COLD_FACTOR;
    if (edge->target == 0)
        return 0.5;
    if (is_block(graph, edge->target) && is_block(graph, edge->source) &&
        graph->blocks.data[edge->target - 1].fragment !=
            graph->blocks.data[edge->source - 1].fragment)
        return COLD_FACTOR;
    uint32_t from = g->loops.depth[edge->source], to = g->loops.depth[edge->target];
    if (to < from)
        return target_share(g, edge) /
               (g->calls_itself && g->calls_itself[edge->source] ? CALLING_FACTOR : LOOP_FACTOR);
    return target_share(g, edge);
}

/* Scales the shares of the edges out of each node to a sum of one. */
static void find_probabilities(struct guess *g) {
    const struct graph *graph = g->graph;
    double *total = ARENA_ARRAY(graph->arena, double, g->loops.nodes);
    g->probability = ARENA_ARRAY(graph->arena, double, graph->edges.count);
    g->in = ARENA_ARRAY(graph->arena, index_list, g->loops.nodes);
    for (uint32_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        g->probability[i] = edge_share(g, edge);
        total[edge->source] += g->probability[i];
        if (edge->target)
            vector_push(graph->arena, &g->in[edge->target], i);
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        if (edge->source == 0)
            g->probability[i] = edge->kind == QUIPU_EDGE_ENTRY ? 1 : COLD_FACTOR;
        else if (total[edge->source] > 0)
            g->probability[i] /= total[edge->source];
    }
}

/* Returns the flow into NODE: over back edges, or over all other edges. If MARKED is set, only
 * edges from the loop that loop_body found last count. */
static double flow_into(const struct guess *g, uint32_t node, bool back, bool marked) {
    const struct loops *loops = &g->loops;
    double sum = 0;
    for (size_t i = 0; i < g->in[node].count; i++) {
        uint32_t index = g->in[node].data[i], source = g->graph->edges.data[index].source;
        if (loops->rank[source] != NONE && is_back_edge(loops, source, node) == back &&
            (!marked || loops->mark[source] == loops->last_mark))
            sum += g->frequency[source] * g->probability[index];
    }
    return sum;
}

/* Returns the iterations of HEAD's loop. Those of inner loops are known. */
static double find_turns(struct guess *g, uint32_t head, uint32_t *body) {
    struct loops *loops = &g->loops;
    uint32_t count = loop_body(loops, head, body);
    g->frequency[head] = 1;
    for (uint32_t i = 1; i < count; i++)
        g->frequency[body[i]] = flow_into(g, body[i], false, true) * g->turns[body[i]];
    double again = flow_into(g, head, true, true);
    return again < 1 - 1 / TURNS_MAX ? 1 / (1 - again) : TURNS_MAX;
}

static void spread_frequency(struct guess *g) {
    struct loops *loops = &g->loops;
    struct graph *graph = g->graph;
    uint32_t *body = ARENA_ARRAY(graph->arena, uint32_t, loops->nodes);
    g->frequency = ARENA_ARRAY(graph->arena, double, loops->nodes);
    g->turns = ARENA_ARRAY(graph->arena, double, loops->nodes);
    for (uint32_t i = loops->reached; i-- > 1;) {
        uint32_t node = loops->order[i];
        g->turns[node] = loops->is_head[node] ? find_turns(g, node, body) : 1;
    }
    g->frequency[0] = 1;
    for (uint32_t i = 1; i < loops->reached; i++) {
        uint32_t node = loops->order[i];
        double sum = flow_into(g, node, false, false) * g->turns[node];
        g->frequency[node] = sum < FREQUENCY_MAX ? sum : FREQUENCY_MAX;
    }
    for (size_t i = 0; i < graph->edges.count; i++) {
        struct edge *edge = &graph->edges.data[i];
        edge->frequency = g->frequency[edge->source] * g->probability[i];
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

/* The guess keeps a small share. It chooses among blocks that never ran. */
static const double GUESS_SHARE = 1e-6;

static void use_earlier(struct graph *graph, const struct earlier_counts *earlier) {
    const struct symbol *symbol = &graph->unit->symbols.data[graph->function->symbol];
    char *name = arena_copy(graph->arena, symbol->name, symbol->length);
    if (!earlier->find_function(earlier->context, name, (uint32_t)graph->instructions.count))
        return;
    graph->guessed = false;
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
    struct guess g = {.graph = graph};
    find_loops(&g.loops, graph);
    find_own_calls(&g);
    find_probabilities(&g);
    spread_frequency(&g);
    for (size_t i = 0; i < graph->blocks.count; i++) {
        graph->blocks.data[i].loop_depth = g.loops.depth[i + 1];
        graph->blocks.data[i].cycle = g.loops.cycle[i + 1];
        graph->blocks.data[i].frequency = g.frequency[i + 1];
    }
    graph->guessed = true;
    if (earlier)
        use_earlier(graph, earlier);
}
