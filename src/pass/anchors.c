/* anchors.c: query anchors: the positions for which tables record the sums of events above the
 * cells.
 *
 * Between two anchors there are original instructions, whose weights readers add one by one, or
 * inserted code, which weighs nothing. So there is an anchor at each piece of a block, where
 * inserted code begins, and behind each addition.
 *
 * requires: count_events    makes: planner.anchors, planner.countdown_tests
 * Does nothing if no events are counted. */
#include "pass/plan.h"

static bool wanted(const struct planner *p) {
    return p->state->options->events.count > 0;
}

static void subtract(const struct planner *p, struct event_sums *sums,
                     const struct increment *increment) {
    const struct event_set *events = &p->state->options->events;
    for (uint32_t k = 0; k < events->count; k++)
        if (increment->space == CELLS_OF_EVENTS && events->kinds[k]->cell == increment->cell)
            *(increment->turns ? &sums->turns[k] : &sums->of[k]) -= increment->amount;
}

struct event_sums sums_in_block(const struct planner *p, uint32_t index, uint32_t instruction,
                                bool counted) {
    const struct graph *graph = p->graph;
    const struct event_set *events = &p->state->options->events;
    const struct basic_block *block = &graph->blocks.data[index];
    struct event_sums sums = {0};
    for (uint32_t k = 0; k < events->count; k++)
        sums.of[k] = graph->potentials[k][in_node(graph, index + 1)].value +
                     weigh_instructions(graph, events->kinds[k], block, instruction);
    for (size_t i = 0; counted && i < block->increments.count; i++)
        subtract(p, &sums, &block->increments.data[i]);
    return sums;
}

struct event_sums sums_on_edge(const struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct event_set *events = &p->state->options->events;
    const struct edge *edge = &graph->edges.data[index];
    struct event_sums sums = {0};
    for (uint32_t k = 0; k < events->count; k++)
        sums.of[k] = graph->potentials[k][out_node(graph, edge->source)].value +
                     weigh_edge(graph, events->kinds[k], edge);
    for (size_t i = 0; i < edge->increments.count; i++)
        if (edge->increments.data[i].turns) { /* what it subtracts is still in the cell */
            struct increment added = edge->increments.data[i];
            added.amount = -added.amount;
            subtract(p, &sums, &added);
        }
    return sums;
}

static struct query_anchor *add_anchor(struct planner *p, const char *label,
                                       struct event_sums sums) {
    struct query_anchor anchor = {.label = label, .fragment = p->fragment, .sums = sums};
    vector_push(p->graph->arena, &p->anchors, anchor);
    return &p->anchors.data[p->anchors.count - 1];
}

/* Records that instructions [FROM, TO) of block INDEX follow the anchor. */
static void set_instructions(struct planner *p, struct query_anchor *anchor, uint32_t index,
                             uint32_t from, uint32_t to) {
    anchor->block = index;
    anchor->first = p->graph->blocks.data[index].first + from;
    anchor->count = to - from;
}

void begin_marks(struct planner *p, uint8_t fragment, struct event_sums sums) {
    p->fragment = fragment;
    p->sums = sums;
    p->marks.count = 0;
}

void anchor_code(struct planner *p, struct buffer *out, uint8_t fragment, struct event_sums sums) {
    if (!wanted(p))
        return;
    const char *label = arena_print(p->graph->arena, ".LQi%u", ++p->state->labels);
    begin_marks(p, fragment, sums);
    buffer_print(out, "%s: ", label);
    add_anchor(p, label, sums);
}

void anchor_marks(struct planner *p) {
    if (!wanted(p))
        return;
    for (size_t i = 0; i < p->marks.count; i++) {
        const struct increment_mark *mark = &p->marks.data[i];
        subtract(p, &p->sums, &mark->increment);
        if (mark->tests)
            vector_push(p->graph->arena, &p->countdown_tests,
                        ((struct countdown_test){mark->label, p->fragment}));
        add_anchor(
            p, arena_print(p->graph->arena, mark->out_of_line ? ".LQs%u" : ".LQi%u", mark->label),
            p->sums);
    }
    p->marks.count = 0;
}

void anchor_stretch(struct planner *p, struct buffer *out, uint32_t index, uint32_t from,
                    uint32_t to, struct event_sums sums) {
    anchor_code(p, out, p->graph->blocks.data[index].fragment, sums);
    if (wanted(p))
        set_instructions(p, &p->anchors.data[p->anchors.count - 1], index, from, to);
}

void anchor_instructions(struct planner *p, struct buffer *out, uint32_t index, uint32_t from,
                         uint32_t to, bool counted) {
    anchor_stretch(p, out, index, from, to, sums_in_block(p, index, from, counted));
}

/* Adds an anchor at the function's label if its first instruction is aligned. The original needed
 * no padding there. But code inserted in front of the function can move it so that there is
 * some. */
static void anchor_begin(struct planner *p) {
    const struct basic_block *first = &p->graph->blocks.data[0];
    if (!wanted(p) || first->padding || first->aligned_by == NONE)
        return;
    p->fragment = first->fragment;
    add_anchor(p, function_label(p), sums_in_block(p, 0, 0, false));
}

void anchor_pieces(struct planner *p) {
    const struct graph *graph = p->graph;
    anchor_begin(p);
    for (uint32_t i = 0; wanted(p) && i < graph->text_blocks; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        const struct placed_block *placed = &p->placed[i];
        if (block->padding)
            continue;
        p->fragment = block->fragment;
        for (size_t piece = 0; piece <= placed->splits.count; piece++) {
            uint32_t from = piece ? placed->splits.data[piece - 1] : 0;
            uint32_t to = piece < placed->splits.count ? placed->splits.data[piece] : block->count;
            uint32_t label = piece ? placed->split_labels.data[piece - 1] : placed->label;
            struct query_anchor *anchor =
                add_anchor(p, arena_print(graph->arena, ".LQb%u", label),
                           sums_in_block(p, i, from, from >= p->blocks[i].counter_at));
            set_instructions(p, anchor, i, from, to);
        }
    }
}
