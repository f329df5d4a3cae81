/* placement.c: where values of registers are best recorded.
 *
 * A value that is not known flows from the impossible instruction that makes it, by moves and
 * computations, along the paths of the function, to the addresses that need it. It may be recorded
 * anywhere on its way: then what follows from it is known. So the best places are the cheapest cut
 * of a network between all impossible instructions and all addresses. Its nodes are values: a
 * register in a block, from one change of it to the next. To cut a value costs as much as its block
 * runs, by the guessed frequencies. Thus one record of an instruction word serves all fields that
 * are taken out of it, and a pointer that a loop does not change is recorded in front of the loop.
 *
 * Mazieres and Smith 1994, section 2.2.4, record each impossible instruction whose value an address
 * may need. That is the cut nearest to the source. Cai and Xue 2003 ("Optimal and efficient
 * speculation-based partial redundancy elimination") find places of computations by such cuts.
 *
 * values.c takes the places as a proposal: what is still not known at an address is recorded there.
 *
 * requires: build_graph, find_frequencies   makes: placed
 * Not perfect: a record with two values is cheaper than two records, which is not considered. */
#include "pass/trace/trace.h"

#include "pass/plan.h"
#include "util/min_cut.h"
#include "x86/computation.h"

enum {
    VALUES_MOST = 1 << 20, /* of a larger function nothing is proposed */
    COST_TOGETHER = 1,     /* of a value in a record that is there anyway */
    COST_ALONE = 2,
    SCALE = 1024 /* costs are whole numbers */
};

/* A register in a block between two of its changes. */
struct value {
    uint32_t block;
    uint32_t low;  /* it is there in front of this instruction */
    uint32_t high; /* it must be recorded in front of this one; NONE: not found yet */
    uint8_t reg;
};

struct network {
    const struct graph *graph;
    const struct trace_records *trace;
    struct arena *arena; /* of what only the choice needs */
    struct cut_network cut;
    VECTOR(struct value) values; /* those at the begin of blocks, of hubs, and then all others */
    uint32_t *behind;            /* by block and register: the value at its end; NONE: known */
};

/* The registers at an instruction. */
struct position {
    uint32_t block, index;
    uint32_t values[GENERAL_REGISTERS]; /* NONE: known */
};

static uint32_t node_into(uint32_t value) {
    return CUT_FIRST + 2 * value;
}

static uint32_t node_out_of(uint32_t value) {
    return CUT_FIRST + 2 * value + 1;
}

/* Returns the last position of the value at which it can be recorded, or NONE. That behind all
 * instructions is the sync's on the edge behind the block. */
static uint32_t find_place(const struct network *n, const struct value *value) {
    if (value->block >= n->graph->blocks.count) /* a hub */
        return NONE;
    const struct basic_block *block = &n->graph->blocks.data[value->block];
    if (find_sync_behind(n->trace, value->block) != NONE)
        return block->count;
    if (block->padding || !block->countable || !block->count)
        return NONE;
    for (uint32_t at = value->high < block->count ? value->high : block->count - 1;
         at + 1 > value->low; at--)
        if (code_may_stand(n->graph, block, at))
            return at;
        else if (at == 0)
            break;
    return NONE;
}

static void add_arc(struct network *n, uint32_t from, uint32_t to) {
    add_cut_arc(&n->cut, from, to, CUT_NEVER);
}

/* The value is needed, in front of instruction INDEX. */
static void use_value(struct network *n, uint32_t number, uint32_t index) {
    struct value *value = &n->values.data[number];
    if (value->high == NONE)
        value->high = index;
}

static void need_value(struct network *n, const struct position *at, unsigned reg) {
    uint32_t value = at->values[reg];
    if (value == NONE)
        return;
    use_value(n, value, at->index);
    add_arc(n, node_out_of(value), CUT_SINK);
}

/* Instruction INDEX changes the register. Returns its new value. */
static uint32_t change_register(struct network *n, struct position *at, unsigned reg) {
    if (at->values[reg] != NONE)
        use_value(n, at->values[reg], at->index);
    struct value value = {at->block, at->index + 1, NONE, (uint8_t)reg};
    vector_push(n->arena, &n->values, value);
    return at->values[reg] = (uint32_t)n->values.count - 1;
}

/* The instruction's result follows from its INPUTS. */
static void compute(struct network *n, struct position *at, unsigned reg, uint16_t inputs) {
    uint32_t from[GENERAL_REGISTERS], count = 0;
    for (unsigned input = 0; input < GENERAL_REGISTERS; input++)
        if (inputs >> input & 1 && at->values[input] != NONE)
            from[count++] = at->values[input];
    for (uint32_t i = 0; i < count; i++)
        use_value(n, from[i], at->index);
    uint32_t value = change_register(n, at, reg);
    if (!count)
        at->values[reg] = NONE;
    for (uint32_t i = 0; i < count; i++)
        add_arc(n, node_out_of(from[i]), node_into(value));
}

/* Follows one instruction as follow_registers does. */
static void pass_instruction(struct network *n, struct position *at,
                             const struct decoded *decoded) {
    uint64_t values[GENERAL_REGISTERS] = {0};
    uint16_t kept = follow_registers(decoded, 0, values, REGISTERS_ALL), inputs;
    uint8_t computed;
    if (find_computed_register(decoded, &computed, &inputs))
        compute(n, at, computed, inputs);
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (!(kept >> reg & 1))
            add_arc(n, CUT_SOURCE, node_into(change_register(n, at, reg)));
}

static void pass_block(struct network *n, uint32_t index) {
    const struct graph *graph = n->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    struct position at = {.block = index};
    bool counts = false;
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        at.values[reg] = index * GENERAL_REGISTERS + reg;
    if (begins_with_result(graph, n->trace, block))
        at.values[0] = NONE;
    for (; at.index < block->count; at.index++) {
        const struct decoded *decoded = graph->instructions.data[block->first + at.index].decoded;
        uint16_t needs = registers_of_accesses(decoded) | (counts ? REGISTER_RCX : 0);
        if (at.index + 1 == block->count)
            needs |= n->trace->callees[index].arguments;
        for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
            if (needs >> reg & 1)
                need_value(n, &at, reg);
        pass_instruction(n, &at, decoded);
        counts = decoded->turns == TURNS_SOME;
    }
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        n->behind[index * GENERAL_REGISTERS + reg] = at.values[reg];
}

/* Adds arcs for what flows along an edge. */
static void pass_edge(struct network *n, const struct edge *edge) {
    const struct graph *graph = n->graph;
    bool outside = edge->source == 0 || loses_registers(graph, edge);
    if (edge->target == 0)
        return;
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++) {
        uint32_t to = (edge->target - 1) * GENERAL_REGISTERS + reg, from = NONE;
        bool known =
            (reg == 0 && has_result(graph, n->trace, edge)) ||
            (reg == STACK_POINTER &&
             (outside || (is_block(graph, edge->target) && n->trace->syncs[edge->target - 1])));
        if (known)
            continue;
        if (!outside)
            from = is_block(graph, edge->source)
                       ? n->behind[(edge->source - 1) * GENERAL_REGISTERS + reg]
                       : (edge->source - 1) * GENERAL_REGISTERS + reg;
        if (outside || from != NONE)
            add_arc(n, outside ? CUT_SOURCE : node_out_of(from), node_into(to));
    }
}

/* Adds what it costs to record each value. */
static void add_costs(struct network *n) {
    for (uint32_t i = 0; i < n->values.count; i++) {
        const struct value *value = &n->values.data[i];
        uint64_t cost = CUT_NEVER;
        if (find_place(n, value) != NONE) {
            double frequency = n->graph->blocks.data[value->block].frequency;
            bool together =
                n->trace->syncs[value->block] || find_sync_behind(n->trace, value->block) != NONE;
            unsigned times = together ? COST_TOGETHER : COST_ALONE;
            cost = (uint64_t)(frequency * SCALE) * times + 1;
        }
        add_cut_arc(&n->cut, node_into(i), node_out_of(i), cost);
    }
}

/* Lists the values that are cut, by block and position. */
static void list_placed(const struct network *n, struct trace_records *trace) {
    const struct graph *graph = n->graph;
    for (uint32_t i = 0; i < n->values.count; i++) {
        const struct value *value = &n->values.data[i];
        if (!is_behind_cut(&n->cut, node_out_of(i)) || is_behind_cut(&n->cut, node_into(i)))
            continue;
        struct placed_value placed = {
            .at = find_place(n, value), .reg = value->reg, .next = trace->placed_of[value->block]};
        vector_push(graph->arena, &trace->placed, placed);
        trace->placed_of[value->block] = (uint32_t)trace->placed.count;
    }
}

void place_values(const struct graph *graph, struct trace_records *trace) {
    uint32_t blocks = (uint32_t)graph->blocks.count;
    uint32_t nodes = blocks + graph->hub_count;
    struct arena arena = {0};
    struct network n = {.graph = graph, .trace = trace, .arena = &arena, .cut = {.arena = &arena}};
    if ((uint64_t)nodes * GENERAL_REGISTERS > VALUES_MOST)
        return;
    n.behind = ARENA_ARRAY(&arena, uint32_t, (size_t)blocks * GENERAL_REGISTERS);
    for (uint32_t node = 0; node < nodes; node++)
        for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++) {
            struct value value = {node, 0, NONE, (uint8_t)reg};
            vector_push(&arena, &n.values, value);
        }
    for (uint32_t i = 0; i < blocks; i++)
        pass_block(&n, i);
    for (size_t i = 0; i < graph->edges.count; i++)
        pass_edge(&n, &graph->edges.data[i]);
    add_costs(&n);
    if (find_min_cut(&n.cut))
        list_placed(&n, trace);
    arena_release(&arena);
}
