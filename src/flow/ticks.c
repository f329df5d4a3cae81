/* ticks.c: the events of the software instruction counter: backward branches, calls and returns.
 *
 * Mellor-Crummey & LeBlanc 1989, section 3: an instruction that runs again has been left in between
 * by a branch backward or a call, so that a counter of both tells its executions apart.  The order
 * is that of the text: a function's first fragment, then its others; a copy of an unrolled loop
 * stands where its original does.  Whoever comes in from outside ticks too: calls, unwinders, and
 * jumps to labels whose address is known elsewhere.  So does a call that returns once more
 * (setjmp) or on another stack (swapcontext), behind it.
 *
 * Unlike the paper's, returns and tail jumps of functions that call tick: what stands behind a
 * recursive call runs once for each call that ends, with neither a call nor a branch backward in
 * between.  With them, two runs of an instruction in two calls of its function have that function's
 * end or begin between them.
 *
 * A hub ticks towards those targets that stand above one of its jumps.  So a switch whose cases
 * stand below it costs nothing, where the paper counted every indirect jump as backward.
 *
 * requires: build_graph, unroll_loops    makes: ticks of edges
 * Invariant: every cycle of edges has one that ticks. */
#include "flow/graph.h"

#include <string.h>

/* Functions of the C library behind whose call the thread may come again, from one call or on
 * another stack. */
static const char *const returning_again[] = {
    "setjmp",     "_setjmp",     "__setjmp", "sigsetjmp", "__sigsetjmp",
    "getcontext", "swapcontext", "savectx",  "vfork",
};

/* The block's place in the text. */
static uint32_t place_of(const struct graph *graph, uint32_t end) {
    uint32_t index = end - 1;
    while (graph->blocks.data[index].copy_of)
        index = graph->blocks.data[index].copy_of - 1;
    return index;
}

bool returns_again(const struct graph *graph, const struct edge *edge) {
    if (edge->kind != QUIPU_EDGE_CALL)
        return false;
    const struct graph_instruction *call =
        last_instruction(graph, &graph->blocks.data[edge->source - 1]);
    const struct statement *statement = &graph->unit->statements.data[call->statement];
    if (statement->symbol == NONE)
        return false;
    const struct symbol *symbol = &graph->unit->symbols.data[statement->symbol];
    for (size_t i = 0; i < sizeof returning_again / sizeof *returning_again; i++)
        if (strlen(returning_again[i]) == symbol->length &&
            memcmp(returning_again[i], symbol->name, symbol->length) == 0)
            return true;
    return false;
}

/* What is known of a function before its edges are looked at. */
struct ticking {
    uint32_t last; /* the place of the last jump through a hub */
    bool calls;    /* the function calls others */
};

static bool leaves_function(const struct edge *edge) {
    return edge->target == 0 &&
           (edge->kind == QUIPU_EDGE_RETURN || edge->kind == QUIPU_EDGE_TAIL ||
            edge->kind == QUIPU_EDGE_TAKEN || edge->kind == QUIPU_EDGE_NOT_TAKEN);
}

static bool is_tick(const struct graph *graph, const struct edge *edge,
                    const struct ticking *ticking) {
    if (leaves_function(edge))
        return ticking->calls;
    if (!is_block(graph, edge->target))
        return false;
    uint32_t target = place_of(graph, edge->target);
    if (is_block(graph, edge->source))
        return target <= place_of(graph, edge->source) || returns_again(graph, edge);
    return edge->source == 0 || target <= ticking->last;
}

static struct ticking look_at(const struct graph *graph) {
    struct ticking ticking = {0};
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        bool through_hub = edge->target > graph->blocks.count && is_block(graph, edge->source);
        ticking.calls |= edge->kind == QUIPU_EDGE_CALL || edge->kind == QUIPU_EDGE_CALL_LOST;
        if (through_hub && place_of(graph, edge->source) > ticking.last)
            ticking.last = place_of(graph, edge->source);
    }
    return ticking;
}

void find_ticks(struct graph *graph) {
    struct ticking ticking = look_at(graph);
    for (size_t i = 0; i < graph->edges.count; i++)
        graph->edges.data[i].ticks = is_tick(graph, &graph->edges.data[i], &ticking);
}
