/* narrow.c: which recorded values need only 32 bits.
 *
 * Indices and sizes most often are of 32 bits: the instruction that computed the register has set
 * its upper half to 0. A forward analysis finds the registers of which this holds on every path. A
 * record has only the lower half of such a register.
 *
 * requires: choose_records   makes: narrow of records
 * Not perfect: 64-bit results are followed through moves only. A value that is small, but was
 * computed in 64 bits, keeps all of them. */
#include "pass/trace/trace.h"

#include "pass/plan.h"

struct narrow_analysis {
    const struct graph *graph;
    struct trace_records *trace;
    uint16_t *behind; /* by block: registers with upper halves of 0 behind its last instruction */
};

/* Whether the instruction copies a whole register to another one. */
static bool is_move(const struct computation *computation) {
    return computation->kind == COMPUTES_SUM && computation->wide && !computation->relative &&
           computation->a != NO_REGISTER && computation->b == NO_REGISTER && !computation->constant;
}

static uint16_t pass_instruction(const struct decoded *decoded, uint16_t narrow) {
    const struct computation *computation = &decoded->computation;
    uint16_t copied = 0;
    if (is_move(computation) && narrow >> computation->a & 1)
        copied = (uint16_t)(1u << computation->reg);
    return (uint16_t)((narrow & ~decoded->registers_written) | decoded->zero_extended | copied);
}

/* Returns what holds behind block INDEX if NARROW holds in front of it. NOTES: and tells its
 * records. */
static uint16_t pass_block(struct narrow_analysis *a, uint32_t index, uint16_t narrow, bool notes) {
    const struct basic_block *block = &a->graph->blocks.data[index];
    size_t next = notes && a->trace->of_block[index] ? a->trace->of_block[index] - 1 : SIZE_MAX;
    for (uint32_t i = 0; i <= block->count; i++) {
        for (; next < a->trace->records.count; next++) {
            struct trace_record *record = &a->trace->records.data[next];
            if (record->block != index || record->at > i)
                break;
            record->narrow = record->registers & narrow;
        }
        if (i < block->count)
            narrow =
                pass_instruction(a->graph->instructions.data[block->first + i].decoded, narrow);
    }
    return narrow;
}

/* Returns what holds where EDGE arrives. */
static uint16_t narrow_on_edge(const struct narrow_analysis *a, const struct edge *edge) {
    const struct graph *graph = a->graph;
    if (edge->source == 0)
        return 0;
    if (is_block(graph, edge->source)) {
        if (loses_registers(graph, edge) || edge->kind == QUIPU_EDGE_PAD)
            return 0;
        uint16_t lost = edge->kind == QUIPU_EDGE_CALL ? registers_of_callee() : 0;
        return a->behind[edge->source - 1] & (uint16_t)~lost;
    }
    uint16_t narrow = REGISTERS_ALL; /* a hub */
    for (size_t i = 0; i < graph->edges.count; i++)
        if (graph->edges.data[i].target == edge->source)
            narrow &= narrow_on_edge(a, &graph->edges.data[i]);
    return narrow;
}

static uint16_t narrow_before(const struct narrow_analysis *a, uint32_t index) {
    const struct basic_block *block = &a->graph->blocks.data[index];
    uint16_t narrow = block->in.count && !a->trace->syncs[index] ? REGISTERS_ALL : 0;
    for (size_t i = 0; i < block->in.count && narrow; i++)
        narrow &= narrow_on_edge(a, &a->graph->edges.data[block->in.data[i]]);
    return narrow;
}

void find_narrow_values(const struct graph *graph, struct trace_records *trace) {
    uint32_t count = (uint32_t)graph->blocks.count;
    struct narrow_analysis a = {
        .graph = graph, .trace = trace, .behind = ARENA_ARRAY(graph->arena, uint16_t, count)};
    if (!graph->function->compiled)
        return;
    for (uint32_t i = 0; i < count; i++)
        a.behind[i] = REGISTERS_ALL;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < count; i++) {
            uint16_t behind = pass_block(&a, i, narrow_before(&a, i), false);
            changed |= behind != a.behind[i];
            a.behind[i] = behind;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        pass_block(&a, i, narrow_before(&a, i), true);
    for (size_t i = 0; i < trace->records.count; i++) {
        struct trace_record *record = &trace->records.data[i];
        if (record->block == NONE && !record->behind_tail)
            record->narrow =
                record->registers & narrow_on_edge(&a, &graph->edges.data[record->edge]);
    }
}
