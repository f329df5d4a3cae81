/* values.c: which values of registers a trace must have.
 *
 * Larus's program slices (Mazieres and Smith 1994, section 2.2.4): an instruction that changes a
 * register which an address depends on is difficult if whoever follows the run can compute the
 * result, and impossible if not. Values are recorded behind impossible instructions only, and only
 * if an address needs them before they change again. What known functions of the C library access
 * depends on their arguments and their result, so these are needed, too, unless the C library is
 * instrumented.
 *
 * A forward analysis finds, at each instruction, the registers that are known on every path. Values
 * are recorded where placement.c proposes it. Where an address still needs a register that is not
 * known, its value is recorded there, and is known from there on. At an entry only
 * the stack pointer is known, which the record there has.
 *
 * With -fcf-protection a function may begin with endbr64 right in front of the head of a loop. In
 * front of endbr64 no code may stand, and behind it begins the loop. So the edge between the two
 * has the sync, which then runs once for each call.
 *
 * requires: build_graph, find_frequencies   makes: recorded of blocks and edges
 * Not perfect: what is loaded from the stack is recorded again, though it was known when it was
 * stored. */
#include "pass/trace/trace.h"

#include "asm/operand.h"
#include "pass/plan.h"
#include "x86/callee.h"
#include "x86/coded.h"
#include "x86/computation.h"

bool needs_sync(const struct graph *graph, const struct edge *edge) {
    if (edge->kind != QUIPU_EDGE_CALL)
        return false;
    const struct basic_block *source = &graph->blocks.data[edge->source - 1];
    for (size_t i = 0; i < source->out.count; i++)
        if (graph->edges.data[source->out.data[i]].kind == QUIPU_EDGE_CALL_LOST)
            return true;
    return false;
}

uint32_t find_sync_behind(const struct trace_records *trace, uint32_t index) {
    return trace->sync_behind[index] ? trace->sync_behind[index] - 1 : NONE;
}

/* Returns the edge behind BLOCK that can have its sync, or NONE: nothing but marks of landing may
 * be in front of it, and nothing else may follow. */
static uint32_t find_edge_for_sync(const struct graph *graph, const struct basic_block *block) {
    if (block->padding || block->out.count != 1)
        return NONE;
    for (uint32_t i = 0; i < block->count; i++)
        if (!is_landing_mark(graph->instructions.data[block->first + i].decoded))
            return NONE;
    uint32_t index = block->out.data[0];
    const struct edge *edge = &graph->edges.data[index];
    return edge->kind == QUIPU_EDGE_FALL && edge->countable ? index : NONE;
}

/* Chooses where the sync of block INDEX is, to which control comes from elsewhere. Returns whether
 * there is a place. */
static bool place_sync(struct graph *graph, struct trace_records *trace, uint32_t index) {
    struct basic_block *block = &graph->blocks.data[index];
    if (block->countable) {
        block->recorded = trace->syncs[index] = true;
        return true;
    }
    uint32_t edge = find_edge_for_sync(graph, block);
    if (edge == NONE)
        return false;
    graph->edges.data[edge].recorded = true;
    trace->sync_behind[index] = edge + 1;
    return true;
}

/* Marks the blocks and edges with a record at which control comes from elsewhere. */
static const char *find_syncs(struct graph *graph, struct trace_records *trace) {
    for (size_t i = 0; i < graph->edges.count; i++) {
        struct edge *edge = &graph->edges.data[i];
        bool enters = edge->source == 0;
        if (!is_block(graph, edge->target) || (!enters && !needs_sync(graph, edge)))
            continue;
        if (!enters && edge->countable) {
            edge->recorded = true;
            continue;
        }
        if (!place_sync(graph, trace, edge->target - 1))
            return "control enters it where a trace can have no record";
    }
    return NULL;
}

/* ---- calls of known functions ---- */

/* CALLEES: as find_wanted_values. musl's hand-written system call is left alone in any case. */
static struct callee_values find_callee_values(const struct graph *graph,
                                               const struct basic_block *block, bool callees) {
    struct callee_values values = {0};
    struct callee callee;
    const struct graph_instruction *last = last_instruction(graph, block);
    if (last && is_syscall(last->decoded))
        values.result = true;
    if (!last || !graph->function->compiled)
        return values;
    const struct statement *statement = &graph->unit->statements.data[last->statement];
    bool leaves = is_call_class(last->decoded->class) || last->decoded->class == CLASS_JUMP ||
                  last->decoded->class == CLASS_JUMP_INDIRECT;
    if (!leaves || statement->inline_asm)
        return values;
    struct span name = find_callee_name(graph->unit, statement);
    bool known =
        callees || find_caller_of_kernel(name.start, name.length) == QUIPU_TRACE_SYSCALL_CP;
    if (known && find_known_callee(name.start, name.length, &callee)) {
        values.arguments = callee_arguments(&callee);
        values.result = callee_needs_result(&callee);
    }
    return values;
}

static bool returns_result(const struct graph *graph, const struct trace_records *trace,
                           const struct edge *edge) {
    return edge->kind == QUIPU_EDGE_CALL && is_block(graph, edge->source) &&
           trace->callees[edge->source - 1].result;
}

bool has_result(const struct graph *graph, const struct trace_records *trace,
                const struct edge *edge) {
    return returns_result(graph, trace, edge) && edge->countable && needs_sync(graph, edge);
}

bool begins_with_result(const struct graph *graph, const struct trace_records *trace,
                        const struct basic_block *block) {
    for (size_t i = 0; i < block->in.count; i++) {
        const struct edge *edge = &graph->edges.data[block->in.data[i]];
        if (returns_result(graph, trace, edge) && !has_result(graph, trace, edge))
            return code_may_stand(graph, block, 0);
    }
    return false;
}

/* ---- what is known ---- */

bool loses_registers(const struct graph *graph, const struct edge *edge) {
    if (returns_again(graph, edge))
        return true;
    if (edge->kind != QUIPU_EDGE_CALL || !is_block(graph, edge->source))
        return false;
    const struct graph_instruction *last =
        last_instruction(graph, &graph->blocks.data[edge->source - 1]);
    return graph->unit->statements.data[last->statement].inline_asm || !graph->function->compiled;
}

struct analysis {
    struct graph *graph;
    struct trace_records *trace;
    uint16_t *behind; /* by block: known behind its last instruction */
    bool final;       /* wanted values are listed */
    bool missing;     /* a value cannot be recorded where it is needed */
};

/* The knowledge within a block. */
struct progress {
    uint32_t block;
    uint16_t known;
    uint32_t low[GENERAL_REGISTERS]; /* the value is the same from this instruction on */
};

/* Whether vectors of instruction INDEX are recorded. They are in a record directly in front of it.
 * Where that may not stand, the addresses stay unknown. */
static bool wants_vectors(const struct analysis *a, const struct basic_block *block,
                          uint32_t index) {
    struct access_vector found[ACCESS_VECTORS_MAX];
    const struct decoded *decoded = a->graph->instructions.data[block->first + index].decoded;
    return vectors_of_instruction(decoded, found) && code_may_stand(a->graph, block, index);
}

/* Lists REGISTERS, which instruction INDEX needs, and its VECTORS. EXACT: directly in front of it.
 */
static void want_values(struct analysis *a, const struct progress *progress, uint32_t index,
                        uint16_t registers, bool vectors, bool exact) {
    const struct basic_block *block = &a->graph->blocks.data[progress->block];
    struct wanted_values wanted = {.block = progress->block,
                                   .low = exact ? index : 0,
                                   .high = index,
                                   .registers = registers,
                                   .vectors = vectors};
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (registers >> reg & 1 && progress->low[reg] > wanted.low)
            wanted.low = progress->low[reg];
    while (wanted.low < index && !code_may_stand(a->graph, block, wanted.low))
        wanted.low++;
    while (wanted.high > wanted.low && !code_may_stand(a->graph, block, wanted.high))
        wanted.high--;
    a->missing |= !code_may_stand(a->graph, block, wanted.low);
    size_t count = a->trace->wanted.count;
    struct wanted_values *last = count ? &a->trace->wanted.data[count - 1] : NULL;
    if (last && last->block == wanted.block && wanted.low <= last->high) {
        last->registers |= registers;
        last->vectors |= vectors;
        last->low = wanted.low > last->low ? wanted.low : last->low;
        return;
    }
    vector_push(a->graph->arena, &a->trace->wanted, wanted);
}

/* Returns the registers that are best recorded in front of instruction AT of block INDEX. */
static uint16_t placed_before(const struct analysis *a, uint32_t index, uint32_t at) {
    const struct placed_value *all = a->trace->placed.data;
    uint16_t registers = 0;
    for (uint32_t next = a->trace->placed_of[index]; next; next = all[next - 1].next)
        if (all[next - 1].at == at)
            registers |= (uint16_t)(1u << all[next - 1].reg);
    return registers;
}

static uint16_t follow_block(struct analysis *a, uint32_t index, uint16_t known) {
    const struct basic_block *block = &a->graph->blocks.data[index];
    struct progress progress = {.block = index, .known = known};
    bool counts = false; /* the instruction before has turns that %rcx tells */
    uint64_t values[GENERAL_REGISTERS] = {0};
    for (uint32_t i = 0; i < block->count; i++) {
        const struct decoded *decoded = a->graph->instructions.data[block->first + i].decoded;
        uint16_t needs = registers_of_accesses(decoded) | (counts ? REGISTER_RCX : 0);
        if (i + 1 == block->count)
            needs |= a->trace->callees[index].arguments;
        needs &= (uint16_t)~progress.known;
        bool vectors = a->final && wants_vectors(a, block, i);
        needs |= placed_before(a, index, i) & (uint16_t)~progress.known;
        bool result = i == 0 && begins_with_result(a->graph, a->trace, block);
        needs |= result ? REGISTER_RAX : 0;
        if ((needs || vectors) && a->final)
            want_values(a, &progress, i, needs, vectors, vectors || result);
        progress.known |= needs;
        progress.known = follow_registers(decoded, 0, values, progress.known);
        for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
            if (decoded->registers_written >> reg & 1)
                progress.low[reg] = i + 1;
        counts = decoded->turns == TURNS_SOME;
    }
    if (find_sync_behind(a->trace, index) != NONE) {
        uint16_t placed = placed_before(a, index, block->count) & (uint16_t)~progress.known;
        a->trace->values_behind[index] = placed;
        progress.known |= placed;
    }
    return progress.known;
}

/* Returns what is known where EDGE arrives. */
static uint16_t known_on_edge(const struct analysis *a, const struct edge *edge) {
    const struct graph *graph = a->graph;
    if (edge->source == 0)
        return REGISTER_RSP;
    if (is_block(graph, edge->source)) {
        uint16_t result = has_result(graph, a->trace, edge) ? REGISTER_RAX : 0;
        return result | (loses_registers(graph, edge) ? REGISTER_RSP : a->behind[edge->source - 1]);
    }
    uint16_t known = REGISTERS_ALL; /* a hub */
    for (size_t i = 0; i < graph->edges.count; i++)
        if (graph->edges.data[i].target == edge->source && graph->edges.data[i].source != 0)
            known &= known_on_edge(a, &graph->edges.data[i]);
        else if (graph->edges.data[i].target == edge->source)
            known &= REGISTER_RSP;
    return known;
}

static uint16_t known_before(const struct analysis *a, uint32_t index) {
    const struct basic_block *block = &a->graph->blocks.data[index];
    uint16_t known = REGISTERS_ALL;
    for (size_t i = 0; i < block->in.count; i++)
        known &= known_on_edge(a, &a->graph->edges.data[block->in.data[i]]);
    if (a->trace->syncs[index])
        known |= REGISTER_RSP;
    return known;
}

const char *find_wanted_values(struct graph *graph, struct trace_records *trace, bool callees) {
    uint32_t count = (uint32_t)graph->blocks.count;
    *trace = (struct trace_records){
        .syncs = ARENA_ARRAY(graph->arena, bool, count),
        .sync_behind = ARENA_ARRAY(graph->arena, uint32_t, count),
        .values_behind = ARENA_ARRAY(graph->arena, uint16_t, count),
        .callees = ARENA_ARRAY(graph->arena, struct callee_values, count),
        .placed_of = ARENA_ARRAY(graph->arena, uint32_t, count),
    };
    for (uint32_t i = 0; i < count; i++)
        trace->callees[i] = find_callee_values(graph, &graph->blocks.data[i], callees);
    const char *reason = find_syncs(graph, trace);
    if (reason)
        return reason;
    place_values(graph, trace);
    struct analysis a = {
        .graph = graph, .trace = trace, .behind = ARENA_ARRAY(graph->arena, uint16_t, count)};
    for (uint32_t i = 0; i < count; i++)
        a.behind[i] = REGISTERS_ALL;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < count; i++) {
            uint16_t behind = follow_block(&a, i, known_before(&a, i));
            changed |= behind != a.behind[i];
            a.behind[i] = behind;
        }
    }
    a.final = true;
    for (uint32_t i = 0; i < count; i++)
        follow_block(&a, i, known_before(&a, i));
    for (size_t i = 0; i < trace->wanted.count; i++)
        graph->blocks.data[trace->wanted.data[i].block].recorded = true;
    return a.missing ? "an address needs a register that a trace cannot record there" : NULL;
}
