/* event.c: one exact counter for each kind of event, which can be queried at any instruction.
 *
 * Ball 1994, section 3 (event counting). Every node of the graph gets a potential: the sum of the
 * events on the tree's path from the outside to the node. The tree's arcs need no code. A chord
 * adds the potential of its source, plus its own events, minus the potential of its target: usually
 * little or nothing. So at any node, on every path,
 *
 *     events so far = cell + potential.
 *
 * The potentials are the paper's query increments (section 3.2); tables.c writes them for readers.
 * The outside has the potential 0. Calls have an edge to the outside, even calls of functions that
 * surely return. So while code of other functions runs, the cell alone is exact. The paper's
 * correction in front of and behind each call becomes part of the chords.
 *
 * The potentials of ticks are found by another method (moment/potentials.c). For other kinds, that
 * method changes next to nothing.
 *
 * requires: place_chords, on a graph whose calls are all queries
 * makes:    increments, potentials; each block or edge that adds something is a chord */
#include "format/event.h"
#include "flow/arcs.h"
#include "format/cells.h"
#include "pass/event/event.h"
#include "pass/moment/moment.h"

#include "util/diag.h"

struct arc {
    struct arc_ends ends;
    const struct basic_block *block;
    const struct edge *edge; /* one of the two, the other is NULL */
};

static int32_t weigh_arc(const struct graph *graph, const struct event_kind *kind,
                         const struct arc *arc) {
    return arc->block ? weigh_block(graph, kind, arc->block) : weigh_edge(graph, kind, arc->edge);
}

static struct arc block_arc(const struct graph *graph, uint32_t index) {
    return (struct arc){.ends = {in_node(graph, index + 1), out_node(graph, index + 1)},
                        .block = &graph->blocks.data[index]};
}

static struct arc edge_arc(const struct graph *graph, uint32_t index) {
    const struct edge *edge = &graph->edges.data[index];
    return (struct arc){.ends = {out_node(graph, edge->source), in_node(graph, edge->target)},
                        .edge = edge};
}

/* The arcs of the spanning tree. */
struct tree {
    struct arc *arcs;
    uint32_t count;
    struct meeting_arcs meeting;
};

static void collect_tree(const struct graph *graph, struct tree *tree) {
    struct arena *arena = graph->arena;
    tree->arcs = ARENA_ARRAY(arena, struct arc, graph->blocks.count + graph->edges.count);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (!graph->blocks.data[i].chord)
            tree->arcs[tree->count++] = block_arc(graph, i);
    for (uint32_t i = 0; i < graph->edges.count; i++)
        if (!graph->edges.data[i].chord)
            tree->arcs[tree->count++] = edge_arc(graph, i);
    tree->meeting =
        find_meeting_arcs(arena, tree->arcs, tree->count, sizeof *tree->arcs, node_count(graph));
}

/* Finds the potentials of all nodes of ROOT's tree, depth first. It has an explicit stack, since
 * functions may be long. A tree that does not contain the outside can begin at any node. */
static void spread_from(const struct graph *graph, const struct tree *tree, uint32_t root,
                        const struct event_kind *kind, struct node_potential *potentials,
                        uint32_t *stack) {
    uint32_t depth = 0;
    stack[depth++] = root;
    potentials[root].known = true;
    while (depth > 0) {
        uint32_t node = stack[--depth];
        for (uint32_t m = tree->meeting.first[node]; m < tree->meeting.first[node + 1]; m++) {
            const struct arc *arc = &tree->arcs[tree->meeting.at[m]];
            uint32_t other = other_end(&arc->ends, node);
            int32_t weight = weigh_arc(graph, kind, arc);
            int32_t value = potentials[node].value + (arc->ends.from == node ? weight : -weight);
            if (potentials[other].known) {
                CHECK(potentials[other].value == value);
                continue;
            }
            potentials[other] = (struct node_potential){value, true};
            stack[depth++] = other;
        }
    }
}

static void find_potentials(const struct graph *graph, const struct tree *tree,
                            const struct event_kind *kind, struct node_potential *potentials) {
    uint32_t *stack = ARENA_ARRAY(graph->arena, uint32_t, node_count(graph));
    for (uint32_t node = 0; node < node_count(graph); node++)
        if (!potentials[node].known)
            spread_from(graph, tree, node, kind, potentials, stack);
}

static void add_event(struct graph *graph, const struct event_kind *kind, const struct arc *arc,
                      const struct node_potential *potentials, increment_list *increments) {
    int32_t amount = potentials[arc->ends.from].value + weigh_arc(graph, kind, arc) -
                     potentials[arc->ends.to].value;
    if (amount == 0)
        return;
    CHECK(arc->block ? arc->block->countable : arc->edge && arc->edge->countable);
    struct increment increment = {.space = CELLS_OF_EVENTS, .cell = kind->cell, .amount = amount};
    vector_push(graph->arena, increments, increment);
}

/* Adds increments for an instruction that repeats. In front, it adds all iterations, by %rcx.
 * Behind, it subtracts those that were not made. In between, readers subtract what %rcx still
 * holds: see anchors.c. */
static void count_turns(struct graph *graph, const struct event_kind *kind,
                        struct basic_block *block) {
    const struct graph_instruction *last = last_instruction(graph, block);
    int32_t amount = last ? weigh_turn(kind, last->decoded) : 0;
    struct increment turn = {
        .space = CELLS_OF_EVENTS, .cell = kind->cell, .amount = 1, .turns = true};
    CHECK(!amount || block->count == 1);
    for (int32_t i = 0; i < amount; i++) {
        turn.amount = 1;
        vector_push(graph->arena, &block->increments, turn);
        turn.amount = -1;
        for (size_t e = 0; e < block->out.count && last->decoded->turns == TURNS_SOME; e++)
            if (graph->edges.data[block->out.data[e]].countable)
                vector_push(graph->arena, &graph->edges.data[block->out.data[e]].increments, turn);
    }
}

/* Makes the increments of the block and of its outgoing edges. */
static void count_block(struct graph *graph, const struct event_kind *kind,
                        const struct node_potential *potentials, uint32_t index) {
    struct basic_block *block = &graph->blocks.data[index];
    struct arc arc = block_arc(graph, index);
    add_event(graph, kind, &arc, potentials, &block->increments);
    count_turns(graph, kind, block);
    for (size_t i = 0; i < block->out.count; i++) {
        struct edge *edge = &graph->edges.data[block->out.data[i]];
        arc = edge_arc(graph, block->out.data[i]);
        add_event(graph, kind, &arc, potentials, &edge->increments);
    }
}

static void count_kind(struct graph *graph, const struct event_kind *kind,
                       const struct node_potential *potentials, uint32_t lane_count) {
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        count_block(graph, kind, potentials, i);
    choose_lanes(graph, kind->cell, lane_count);
}

/* Makes each block and edge that adds something a chord. */
static void mark_chords(struct graph *graph) {
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        struct basic_block *block = &graph->blocks.data[i];
        block->only_adds = !block->chord && block->increments.count > 0;
        block->chord |= block->only_adds;
    }
    for (uint32_t i = 0; i < graph->edges.count; i++) {
        struct edge *edge = &graph->edges.data[i];
        edge->only_adds = !edge->chord && edge->increments.count > 0;
        edge->chord |= edge->only_adds;
    }
}

/* Returns how many cells of the kind the additions use. */
static uint32_t lanes_used(const struct pass_options *options, uint32_t kind) {
    enum {
        NEAR_LANES = 2 * QUIPU_BIAS / 8 /* cells that one-byte displacements reach */
    };
    if (kind != QUIPU_EVENT_INSTRUCTIONS)
        return quipu_lanes(kind);
    return options->calls ? QUIPU_CALL_LANES : options->shared ? NEAR_LANES : quipu_lanes(kind);
}

static void count_events(struct graph *graph, const struct pass_options *options) {
    const struct event_set *events = &options->events;
    struct tree tree = {0};
    collect_tree(graph, &tree);
    for (uint32_t k = 0; k < events->count; k++) {
        const struct event_kind *kind = events->kinds[k];
        struct node_potential *potentials =
            ARENA_ARRAY(graph->arena, struct node_potential, node_count(graph));
        graph->potentials[k] = potentials;
        if (kind->cell == 1 + QUIPU_EVENT_TICKS) {
            find_ticks(graph);
            find_tick_potentials(graph, potentials);
        } else {
            find_potentials(graph, &tree, kind, potentials);
        }
        count_kind(graph, kind, potentials, lanes_used(options, kind->cell - 1));
    }
    mark_chords(graph);
}

struct event_unit *event_unit(struct pass_state *state) {
    return unit_data(state, &event_feature);
}

static bool is_on(const struct pass_options *options) {
    return options->events.count > 0;
}

/* Whether a kind other than ticks is counted: ticks belong to the feature `moment`. */
static bool is_asked(const struct pass_options *options) {
    bool ticks = event_mask(&options->events) >> QUIPU_EVENT_TICKS & 1;
    return options->events.count > ticks;
}

static void begin_unit(struct pass_state *state) {
    keep_unit_data(state, &event_feature, ARENA_ARRAY(&state->unit->arena, struct event_unit, 1));
    find_handlers(state);
}

static void declare_symbols(struct pass_state *state) {
    if (state->instrumented)
        buffer_text(&state->tail, "\t.hidden quipu_signal_entry\n");
}

const struct feature event_feature = {
    .name = "event",
    .is_on = is_on,
    .is_asked = is_asked,
    .needs = NEEDS_LAYOUT | NEEDS_ENDS,
    .begin_unit = begin_unit,
    .end_unit = write_event_cells,
    .write_unit_records = write_events_record,
    .declare_symbols = declare_symbols,
    .count = count_events,
    .insert_begin = insert_handler_code,
    .write_note = write_query_tables,
};
