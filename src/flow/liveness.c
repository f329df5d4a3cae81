/* liveness.c: finds the registers and the single flags whose values may be read later.
 *
 * This is the classic backward analysis over sets of 16 registers and 6 flags. At the borders of a
 * function:
 *   - Compiled code: flags are dead at calls, returns and jumps to other functions. So are
 *     registers that the compiler was told not to use, and %r11 if no value is kept in it
 *     (scratch.c). All other registers are live there, the caller-saved ones, too: with -fipa-ra,
 *     gcc keeps values in them across calls of functions that do not change them.
 *   - Hand-written code and inline assembly: everything is live at every border.
 *
 * requires: build_graph   makes: live_in, live_out */
#include "flow/graph.h"
#include "format/notes.h"

static const uint32_t EVERYTHING = LIVE(REGISTERS_ALL, FLAGS_ALL);

/* Returns what another function may read when control leaves this one. */
static uint32_t live_at_border(const struct graph *graph) {
    if (!graph->function->compiled)
        return EVERYTHING;
    uint32_t dead = graph->reserved | (graph->function->keeps_scratch ? 0 : REGISTER_R11);
    return LIVE(REGISTERS_ALL & ~dead, 0);
}

/* Returns the same for a call in this function, or for a jump in its place. */
static uint32_t live_at_call(const struct graph *graph, const struct graph_instruction *call) {
    uint32_t scratch = LIVE(REGISTER_R11 & ~graph->reserved, 0), live = live_at_border(graph);
    return call->loses_scratch ? live & ~scratch : live | scratch;
}

static bool is_border(const struct decoded *decoded) {
    return is_call_class(decoded->class) || decoded->class == CLASS_RETURN;
}

/* Returns what is live before an instruction if LIVE is live after it. */
static uint32_t live_above(const struct graph *graph, const struct graph_instruction *instruction,
                           uint32_t live) {
    const struct decoded *decoded = instruction->decoded;
    uint32_t reads = LIVE(decoded->registers_read, decoded->flags_read);
    uint32_t kills = LIVE(decoded->registers_killed, decoded->flags_written);
    if (is_border(decoded)) {
        const struct statement *s = &graph->unit->statements.data[instruction->statement];
        if (s->inline_asm || !graph->function->compiled)
            return EVERYTHING;
        bool returns = decoded->class == CLASS_RETURN;
        kills |= LIVE(graph->reserved, FLAGS_ALL);
        if (instruction->loses_scratch)
            kills |= LIVE(REGISTER_R11, 0);
        reads |= returns ? live_at_border(graph) : live_at_call(graph, instruction);
    }
    return (live & ~kills) | reads;
}

/* Returns what is live where control leaves the function by a return or a jump. */
static uint32_t live_at_end(const struct graph *graph, const struct edge *edge) {
    if (!is_block(graph, edge->source) || edge->kind == QUIPU_EDGE_RETURN)
        return live_at_border(graph);
    const struct basic_block *source = &graph->blocks.data[edge->source - 1];
    const struct graph_instruction *last = last_instruction(graph, source);
    return last ? live_at_call(graph, last) : live_at_border(graph);
}

/* Returns what is live at the labels to which a jump may lead that seems to leave the function: the
 * outside may serve as the hub. */
static uint32_t live_behind_jump(const struct graph *graph, const struct edge *edge) {
    uint32_t live = 0;
    for (size_t i = 0; edge->kind == QUIPU_EDGE_TAIL && i < graph->blocks.count; i++)
        if (graph->blocks.data[i].address_taken)
            live |= graph->blocks.data[i].live_in;
    return live;
}

static uint32_t live_at_edge(const struct graph *graph, const struct edge *edge) {
    if (is_block(graph, edge->target))
        return graph->blocks.data[edge->target - 1].live_in;
    if (edge->kind == QUIPU_EDGE_CALL_LOST)
        return 0; /* the call itself reads what the callee may read */
    bool stops = edge->kind == QUIPU_EDGE_STOP && is_block(graph, edge->source);
    const struct basic_block *source = stops ? &graph->blocks.data[edge->source - 1] : NULL;
    if (stops && (source->gap || source->switched))
        return LIVE(REGISTERS_ALL, FLAGS_ALL); /* control may continue anywhere */
    if (edge->target == 0)
        return live_at_end(graph, edge) | live_behind_jump(graph, edge);
    uint32_t live = 0;
    for (size_t i = 0; i < graph->edges.count; i++) /* a hub */
        if (graph->edges.data[i].source == edge->target)
            live |= is_block(graph, graph->edges.data[i].target)
                        ? graph->blocks.data[graph->edges.data[i].target - 1].live_in
                        : live_at_border(graph);
    return live;
}

static uint32_t find_live_out(const struct graph *graph, const struct basic_block *block) {
    uint32_t live = block->out.count ? 0 : EVERYTHING;
    for (size_t i = 0; i < block->out.count; i++)
        live |= live_at_edge(graph, &graph->edges.data[block->out.data[i]]);
    return live;
}

uint32_t live_before(const struct graph *graph, const struct basic_block *block, uint32_t index) {
    uint32_t live = block->live_out;
    for (uint32_t i = block->count; i-- > index;)
        live = live_above(graph, &graph->instructions.data[block->first + i], live);
    return live;
}

void find_liveness(struct graph *graph, uint16_t reserved) {
    graph->reserved = reserved;
    for (size_t i = 0; i < graph->instructions.count; i++) {
        struct graph_instruction *instruction = &graph->instructions.data[i];
        instruction->loses_scratch =
            loses_scratch(graph->unit, instruction->decoded, instruction->statement);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = graph->blocks.count; i-- > 0;) {
            struct basic_block *block = &graph->blocks.data[i];
            uint32_t out = find_live_out(graph, block);
            block->live_out = out;
            uint32_t in = live_before(graph, block, 0);
            changed |= in != block->live_in;
            block->live_in = in;
        }
    }
}

/* ---- at a function's begin ---- */

/* What happens to the values of registers in a block. */
enum fate {
    FATE_READ,
    FATE_GONE,
    FATE_KEPT,
};

static enum fate fate_in_block(const struct graph *graph, const struct basic_block *block,
                               uint16_t registers) {
    for (uint32_t i = 0; i < block->count; i++) {
        const struct graph_instruction *instruction = &graph->instructions.data[block->first + i];
        const struct decoded *decoded = instruction->decoded;
        bool calls = is_call_class(decoded->class);
        if ((decoded->registers_read & registers) ||
            (calls && (calls_hook(graph->unit, instruction->statement) ||
                       graph->unit->statements.data[instruction->statement].inline_asm)))
            return FATE_READ;
        if (calls || (decoded->registers_killed & registers))
            return FATE_GONE;
    }
    return FATE_KEPT;
}

/* Adds the blocks to which EDGE leads to OPEN, the blocks that are still to be examined. Returns
 * false if it leads to another function. */
static bool follow_edge(const struct graph *graph, const struct edge *edge, bool *seen,
                        index_list *open) {
    if (edge->target == 0)
        return edge->kind == QUIPU_EDGE_RETURN || edge->kind == QUIPU_EDGE_CALL_LOST;
    if (seen[edge->target])
        return true;
    seen[edge->target] = true;
    if (is_block(graph, edge->target)) {
        vector_push(graph->arena, open, edge->target - 1);
        return true;
    }
    for (size_t i = 0; i < graph->edges.count; i++) /* a hub */
        if (graph->edges.data[i].source == edge->target &&
            !follow_edge(graph, &graph->edges.data[i], seen, open))
            return false;
    return true;
}

bool reads_at_begin(const struct graph *graph, uint32_t index, uint16_t registers) {
    bool *seen = ARENA_ARRAY(graph->arena, bool, 1 + graph->blocks.count + graph->hub_count);
    index_list open = {0};
    vector_push(graph->arena, &open, index);
    while (open.count) {
        const struct basic_block *block = &graph->blocks.data[open.data[--open.count]];
        enum fate fate = fate_in_block(graph, block, registers);
        if (fate == FATE_READ || (fate == FATE_KEPT && !block->out.count))
            return true;
        for (size_t i = 0; i < block->out.count && fate == FATE_KEPT; i++)
            if (!follow_edge(graph, &graph->edges.data[block->out.data[i]], seen, &open))
                return true;
    }
    return false;
}
