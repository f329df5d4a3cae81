/* ticks.c: finds the events of the software instruction counter: backward branches, calls and
 * returns.
 *
 * Mellor-Crummey & LeBlanc 1989, section 3: between two executions of an instruction there is a
 * backward branch or a call. So a counter of both distinguishes the executions. In the paper, a
 * branch is backward in the text. Here, an edge is backward in reverse postorder from the
 * function's begins: its target is not after its source. Every cycle has such an edge, and in most
 * functions only the back edges of loops are such edges. Compilers also jump backward in the text
 * where there is no loop. A copy of an unrolled loop has the order of its original.
 *
 * Entries from outside tick, too: calls, unwinders, and jumps to labels whose address is known
 * elsewhere. So does the edge behind a call that may return again (setjmp) or on another stack
 * (swapcontext).
 *
 * Unlike the paper, quipu also lets returns and tail jumps tick in functions that call. The code
 * behind a recursive call runs once for each call that ends, with neither a call nor a backward
 * branch in between. With these ticks, two executions of an instruction in two calls of its
 * function have an end or a begin of the function between them.
 *
 * A hub is a node like a block. The hub of an interpreter is passed once for each operation, the
 * hub of a switch outside loops never twice. The paper counts every indirect jump as backward. If
 * control may also leave the function from a hub, the hub counts as the outside: all edges from it
 * tick.
 *
 * requires: build_graph, unroll_loops   makes: ticks of edges
 * Invariant: every cycle of edges has an edge that ticks. */
#include "flow/loops.h"
#include "format/notes.h"

#include "asm/operand.h"

/* Functions of the C library that may return more than once from one call, or on another stack. */
static const char *const returning_again[] = {
    "setjmp",     "_setjmp",     "__setjmp", "sigsetjmp", "__sigsetjmp",
    "getcontext", "swapcontext", "savectx",  "vfork",
};

bool returns_again(const struct graph *graph, const struct edge *edge) {
    if (edge->kind != QUIPU_EDGE_CALL)
        return false;
    const struct graph_instruction *call =
        last_instruction(graph, &graph->blocks.data[edge->source - 1]);
    const struct statement *statement = &graph->unit->statements.data[call->statement];
    struct span name = find_callee_name(graph->unit, statement);
    for (size_t i = 0; i < sizeof returning_again / sizeof *returning_again; i++)
        if (span_is(name, returning_again[i]))
            return true;
    return false;
}

/* Facts about a function that all its edges need. */
struct ticking {
    struct loops loops; /* only their order is found */
    bool calls;         /* the function has calls */
    bool hub_leaves;    /* control may leave the function from the hub */
};

static uint32_t rank_of(const struct graph *graph, const struct ticking *ticking, uint32_t node) {
    while (is_block(graph, node) && graph->blocks.data[node - 1].copy_of)
        node = graph->blocks.data[node - 1].copy_of;
    return ticking->loops.rank[node];
}

static bool is_hub(const struct graph *graph, uint32_t node) {
    return node != 0 && !is_block(graph, node);
}

static bool leaves_function(const struct edge *edge) {
    return edge->target == 0 &&
           (edge->kind == QUIPU_EDGE_RETURN || edge->kind == QUIPU_EDGE_TAIL ||
            edge->kind == QUIPU_EDGE_TAKEN || edge->kind == QUIPU_EDGE_NOT_TAKEN);
}

static bool is_tick(const struct graph *graph, const struct edge *edge,
                    const struct ticking *ticking) {
    if (leaves_function(edge))
        return ticking->calls;
    if (edge->target == 0)
        return false;
    if (edge->source == 0)
        return true;
    if (ticking->hub_leaves && is_hub(graph, edge->source))
        return true;
    if (ticking->hub_leaves && is_hub(graph, edge->target))
        return false;
    return rank_of(graph, ticking, edge->target) <= rank_of(graph, ticking, edge->source) ||
           returns_again(graph, edge);
}

static struct ticking look_at(const struct graph *graph) {
    struct ticking ticking = {0};
    find_order(&ticking.loops, graph);
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        ticking.calls |= edge->kind == QUIPU_EDGE_CALL || edge->kind == QUIPU_EDGE_CALL_LOST;
        ticking.hub_leaves |= is_hub(graph, edge->source) && edge->target == 0;
    }
    return ticking;
}

void find_ticks(struct graph *graph) {
    struct ticking ticking = look_at(graph);
    for (size_t i = 0; i < graph->edges.count; i++)
        graph->edges.data[i].ticks = is_tick(graph, &graph->edges.data[i], &ticking);
}
