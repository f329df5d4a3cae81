/* ticks.c: the events of the software instruction counter: branches back, calls and returns.
 *
 * Mellor-Crummey & LeBlanc 1989, section 3: an instruction that runs again has been left in between
 * by a branch backward or a call, so that a counter of both tells its executions apart.  Theirs is
 * backward in the text.  Here it is so in reverse postorder, from a function's begins on: what
 * leads to a block that stands no further down there.  Every cycle has such an edge, and in most
 * functions only the turns of loops do; compilers also jump backward in the text where nothing
 * comes round. A copy of an unrolled loop stands where its original does.
 *
 * Whoever comes in from outside ticks too: calls, unwinders, and jumps to labels whose address is
 * known elsewhere.  So does a call that returns once more (setjmp) or on another stack
 * (swapcontext), behind it.
 *
 * Unlike the paper's, returns and tail jumps of functions that call tick: what stands behind a
 * recursive call runs once for each call that ends, with neither a call nor a branch back in
 * between.  With them, two runs of an instruction in two calls of its function have that function's
 * end or begin between them.
 *
 * A hub is a node like a block.  An interpreter's comes round once for each operation, the hub of a
 * switch that stands in no loop never, where the paper counted every indirect jump as backward.  A
 * hub from which control may also leave the function counts as the outside: all ways from it tick.
 *
 * requires: build_graph, unroll_loops    makes: ticks of edges
 * Invariant: every cycle of edges has one that ticks. */
#include "flow/loops.h"
#include "format/notes.h"

#include "asm/operand.h"

/* Functions of the C library behind whose call the thread may come again, from one call or on
 * another stack. */
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

/* What is known of a function before its edges are looked at. */
struct ticking {
    struct loops loops; /* their order alone */
    bool calls;         /* the function calls others */
    bool hub_leaves;    /* control may leave the function by the hub */
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
