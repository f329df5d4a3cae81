/* loops.c: dominators and natural loops; see loops.h.
 *
 * Dominators by the iterative algorithm of Cooper, Harvey and Kennedy (2001).
 *
 * Not perfect: a cycle with two entries is not a natural loop, and is not found.
 *
 * requires: build_graph   makes: struct loops */
#include "flow/loops.h"

#include <stdlib.h>

static void collect_arcs(struct loops *loops, const struct graph *graph) {
    loops->successors = ARENA_ARRAY(loops->arena, index_list, loops->nodes);
    loops->predecessors = ARENA_ARRAY(loops->arena, index_list, loops->nodes);
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        if (edge->target == 0)
            continue;
        vector_push(loops->arena, &loops->successors[edge->source], edge->target);
        vector_push(loops->arena, &loops->predecessors[edge->target], edge->source);
    }
}

/* A depth-first search from the outside. It does not recurse, since functions can be large. */
static void number_nodes(struct loops *loops) {
    struct arena *arena = loops->arena;
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, loops->nodes + 1);
    size_t *next = ARENA_ARRAY(arena, size_t, loops->nodes);
    bool *seen = ARENA_ARRAY(arena, bool, loops->nodes);
    uint32_t *postorder = ARENA_ARRAY(arena, uint32_t, loops->nodes);
    uint32_t depth = 0, count = 0;
    stack[depth++] = 0;
    seen[0] = true;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (next[node] == loops->successors[node].count) {
            postorder[count++] = node;
            depth--;
            continue;
        }
        uint32_t to = loops->successors[node].data[next[node]++];
        if (!seen[to]) {
            seen[to] = true;
            stack[depth++] = to;
        }
    }
    loops->reached = count;
    loops->order = ARENA_ARRAY(arena, uint32_t, loops->nodes);
    loops->rank = ARENA_ARRAY(arena, uint32_t, loops->nodes);
    for (uint32_t i = 0; i < loops->nodes; i++)
        loops->rank[i] = NONE;
    for (uint32_t i = 0; i < count; i++) {
        loops->order[i] = postorder[count - 1 - i];
        loops->rank[loops->order[i]] = i;
    }
}

static uint32_t common_dominator(const struct loops *loops, uint32_t x, uint32_t y) {
    while (x != y) {
        while (loops->rank[x] > loops->rank[y])
            x = loops->dominator[x];
        while (loops->rank[y] > loops->rank[x])
            y = loops->dominator[y];
    }
    return x;
}

static void find_dominators(struct loops *loops) {
    loops->dominator = ARENA_ARRAY(loops->arena, uint32_t, loops->nodes);
    for (uint32_t i = 1; i < loops->nodes; i++)
        loops->dominator[i] = NONE;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < loops->reached; i++) {
            uint32_t node = loops->order[i], best = NONE;
            for (size_t p = 0; p < loops->predecessors[node].count; p++) {
                uint32_t from = loops->predecessors[node].data[p];
                if (loops->rank[from] == NONE || loops->dominator[from] == NONE)
                    continue;
                best = best == NONE ? from : common_dominator(loops, from, best);
            }
            changed |= best != loops->dominator[node];
            loops->dominator[node] = best;
        }
    }
}

bool dominates(const struct loops *loops, uint32_t above, uint32_t below) {
    while (loops->rank[below] > loops->rank[above])
        below = loops->dominator[below];
    return below == above;
}

bool is_back_edge(const struct loops *loops, uint32_t source, uint32_t target) {
    return target && loops->rank[source] != NONE && loops->rank[target] != NONE &&
           dominates(loops, target, source);
}

static int compare_ranks(const void *left, const void *right) {
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

uint32_t loop_body(struct loops *loops, uint32_t head, uint32_t *body) {
    uint32_t count = 0;
    uint32_t mark = ++loops->last_mark;
    loops->mark[head] = mark;
    body[count++] = head;
    for (size_t p = 0; p < loops->predecessors[head].count; p++) {
        uint32_t source = loops->predecessors[head].data[p];
        if (is_back_edge(loops, source, head) && loops->mark[source] != mark) {
            loops->mark[source] = mark;
            body[count++] = source;
        }
    }
    for (uint32_t done = 1; done < count; done++) {
        const index_list *sources = &loops->predecessors[body[done]];
        for (size_t p = 0; p < sources->count; p++) {
            uint32_t from = sources->data[p];
            if (loops->rank[from] != NONE && loops->mark[from] != mark) {
                loops->mark[from] = mark;
                body[count++] = from;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++)
        body[i] = loops->rank[body[i]];
    qsort(body, count, sizeof *body, compare_ranks);
    for (uint32_t i = 0; i < count; i++)
        body[i] = loops->order[body[i]];
    return count;
}

/* The least number of instructions of a called function, of an inner loop, or between two jumps
 * from a hub to the same target. An interpreter's jump runs for each operation, but seldom goes to
 * the same target twice in a row. */
static const uint32_t ELSEWHERE = 50;

static uint32_t node_size(const struct loops *loops, const struct graph *graph, uint32_t node,
                          uint32_t head) {
    if (!is_block(graph, node) || (loops->is_head[node] && node != head))
        return ELSEWHERE;
    const struct basic_block *block = &graph->blocks.data[node - 1];
    const struct graph_instruction *last = last_instruction(graph, block);
    bool calls = last && is_call_class(last->decoded->class);
    return block->count + (calls ? ELSEWHERE : 0);
}

/* Returns the length of the shortest path that ends at NEIGHBOURS. WAYS has the lengths by node. */
static uint32_t shortest(const index_list *neighbours, const uint32_t *ways) {
    uint32_t least = NONE;
    for (size_t i = 0; i < neighbours->count; i++)
        if (ways[neighbours->data[i]] < least)
            least = ways[neighbours->data[i]];
    return least;
}

/* Sets cycle of the COUNT nodes of a loop in BODY. TO and FROM are room for the lengths of the
 * shortest paths from the head to each node, and from there back to the head. Their entries are
 * NONE before and after. Back edges of inner loops are not followed. */
static void find_cycles(struct loops *loops, const struct graph *graph, const uint32_t *body,
                        uint32_t count, uint32_t *to, uint32_t *from) {
    to[body[0]] = node_size(loops, graph, body[0], body[0]);
    for (uint32_t b = 1; b < count; b++) {
        uint32_t way = shortest(&loops->predecessors[body[b]], to);
        to[body[b]] = way == NONE ? NONE : way + node_size(loops, graph, body[b], body[0]);
    }
    from[body[0]] = 0;
    for (uint32_t b = count; b-- > 0;) {
        uint32_t way = shortest(&loops->successors[body[b]], from);
        from[body[b]] = way == NONE ? NONE : way + node_size(loops, graph, body[b], body[0]);
        if (to[body[b]] != NONE && way != NONE)
            loops->cycle[body[b]] = to[body[b]] + way;
    }
    for (uint32_t b = 0; b < count; b++)
        to[body[b]] = from[body[b]] = NONE;
}

static void find_heads(struct loops *loops) {
    loops->is_head = ARENA_ARRAY(loops->arena, bool, loops->nodes);
    for (uint32_t i = 1; i < loops->reached; i++) {
        uint32_t head = loops->order[i];
        const index_list *sources = &loops->predecessors[head];
        for (size_t p = 0; p < sources->count && !loops->is_head[head]; p++)
            loops->is_head[head] = is_back_edge(loops, sources->data[p], head);
    }
}

static void find_bodies(struct loops *loops, const struct graph *graph) {
    loops->depth = ARENA_ARRAY(loops->arena, uint32_t, loops->nodes);
    loops->cycle = ARENA_ARRAY(loops->arena, uint32_t, loops->nodes);
    uint32_t *to = ARENA_ARRAY(loops->arena, uint32_t, loops->nodes);
    uint32_t *from = ARENA_ARRAY(loops->arena, uint32_t, loops->nodes);
    for (uint32_t i = 0; i < loops->nodes; i++)
        to[i] = from[i] = NONE;
    loops->mark = ARENA_ARRAY(loops->arena, uint32_t, loops->nodes);
    uint32_t *body = ARENA_ARRAY(loops->arena, uint32_t, loops->nodes);
    for (uint32_t i = 1; i < loops->reached; i++) {
        uint32_t head = loops->order[i];
        uint32_t count = loops->is_head[head] ? loop_body(loops, head, body) : 0;
        for (uint32_t b = 0; b < count; b++)
            loops->depth[body[b]]++;
        if (count) /* inner loops overwrite it later */
            find_cycles(loops, graph, body, count, to, from);
    }
}

void find_order(struct loops *loops, const struct graph *graph) {
    *loops = (struct loops){.arena = graph->arena,
                            .nodes = 1 + (uint32_t)graph->blocks.count + graph->hub_count};
    collect_arcs(loops, graph);
    number_nodes(loops);
}

void find_loops(struct loops *loops, const struct graph *graph) {
    find_order(loops, graph);
    find_dominators(loops);
    find_heads(loops);
    find_bodies(loops, graph);
}
