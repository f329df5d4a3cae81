/* flow.c: from a note's graph to the flow equations and to the graph that users see; see flow.h. */
#include "data/flow.h"

struct folder {
    struct arena *arena, *scratch;
    struct function *function;
    const struct noted_block *blocks;
    size_t block_count;
    VECTOR(struct flow_edge) edges; /* of the function, in the order of the note */
};

/* Node numbers: outside is 0; in and out of the note's block b are 1 + 2b and 2 + 2b; then the
 * hubs. */
static uint32_t edge_node(const struct folder *folder, uint32_t end, bool is_source) {
    if (end == 0)
        return 0;
    if (end <= folder->block_count)
        return 2 * end - 1 + is_source;
    return end + (uint32_t)folder->block_count;
}

/* Returns the number of the end in the function's graph. */
static uint32_t folded_end(const struct folder *folder, uint32_t end) {
    if (end == 0)
        return 0;
    if (end <= folder->block_count)
        return folder->blocks[end - 1].block + 1;
    return end - (uint32_t)(folder->block_count - folder->function->block_count);
}

static bool is_copy(const struct folder *folder, uint32_t end) {
    return end > folder->function->block_count && end <= folder->block_count;
}

static bool touches_copy(const struct folder *folder, const struct noted_edge *edge) {
    return is_copy(folder, edge->source) || is_copy(folder, edge->target);
}

/* Returns the number of the function's edge for EDGE, or for the original of EDGE. */
static uint32_t fold_edge(struct folder *folder, const struct noted_edge *edge) {
    struct flow_edge folded = {.source = folded_end(folder, edge->source),
                               .target = folded_end(folder, edge->target),
                               .kind = edge->kind};
    if (touches_copy(folder, edge))
        for (size_t i = 0; i < folder->edges.count; i++) {
            const struct flow_edge *known = &folder->edges.data[i];
            if (known->source == folded.source && known->target == folded.target &&
                known->kind == folded.kind)
                return (uint32_t)i;
        }
    vector_push(folder->scratch, &folder->edges, folded);
    return (uint32_t)folder->edges.count - 1;
}

/* Sorts the edges by source. Edges of one source keep their order. Returns the new index of
 * each. */
static uint32_t *sort_edges(struct folder *folder) {
    struct function *function = folder->function;
    size_t node_count = 1 + function->block_count + function->hub_count;
    uint32_t *next = ARENA_ARRAY(folder->scratch, uint32_t, node_count + 1);
    uint32_t *place = ARENA_ARRAY(folder->scratch, uint32_t, folder->edges.count);
    for (size_t i = 0; i < folder->edges.count; i++)
        next[folder->edges.data[i].source + 1]++;
    for (size_t i = 0; i < node_count; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < function->block_count; i++) {
        function->blocks[i].first_edge = next[i + 1];
        function->blocks[i].edge_count = next[i + 2] - next[i + 1];
    }
    function->edge_count = folder->edges.count;
    function->edges = ARENA_ARRAY(folder->arena, struct flow_edge, function->edge_count);
    for (size_t i = 0; i < folder->edges.count; i++) {
        place[i] = next[folder->edges.data[i].source]++;
        function->edges[place[i]] = folder->edges.data[i];
    }
    return place;
}

void build_flow(struct arena *arena, struct arena *scratch, struct function *function,
                const struct noted_block *blocks, size_t block_count,
                const struct noted_edge *edges, size_t edge_count) {
    struct folder folder = {.arena = arena,
                            .scratch = scratch,
                            .function = function,
                            .blocks = blocks,
                            .block_count = block_count};
    struct flow *flow = ARENA_NEW(arena, struct flow);
    flow->arcs = ARENA_ARRAY(arena, struct flow_arc, block_count + edge_count);
    flow->node_count = 1 + 2 * block_count + function->hub_count;
    for (uint32_t i = 0; i < block_count; i++)
        flow->arcs[flow->arc_count++] = (struct flow_arc){
            .from = 1 + 2 * i, .to = 2 + 2 * i, .cell = blocks[i].cell, .of = blocks[i].block};
    uint32_t *folded = ARENA_ARRAY(scratch, uint32_t, edge_count);
    for (int copies = 0; copies <= 1; copies++) /* originals first */
        for (size_t i = 0; i < edge_count; i++)
            if (touches_copy(&folder, &edges[i]) == copies)
                folded[i] = fold_edge(&folder, &edges[i]);
    const uint32_t *place = sort_edges(&folder);
    for (size_t i = 0; i < edge_count; i++)
        flow->arcs[flow->arc_count++] =
            (struct flow_arc){.from = edge_node(&folder, edges[i].source, true),
                              .to = edge_node(&folder, edges[i].target, false),
                              .cell = edges[i].cell,
                              .of = place[folded[i]],
                              .is_edge = true};
    for (size_t i = 0; i < flow->arc_count; i++)
        if (flow->arcs[i].cell > flow->cell_count)
            flow->cell_count = flow->arcs[i].cell;
    function->flow = flow;
}
