/* records.c: chooses where a function's records are written.
 *
 * A record tells by itself which block or edge it is of. So a block with a record for values needs
 * no other one. The records of control from elsewhere, and those with values, are decided before
 * the spanning tree, which takes them as chords. Then each further chord gets a witness. By Ball
 * and Larus 1994 and Mazieres and Smith 1994, section 2.2.2, witnesses on the chords of a spanning
 * tree tell the path; the outside is a node of the tree, so no further ones are needed in front of
 * calls and returns, where control leaves.
 *
 * requires: place_chords, find_liveness   makes: records */
#include "pass/trace/trace.h"

#include "format/trace_heads.h"
#include "pass/plan.h"

/* Returns the best position of [LOW, HIGH] for a record: where no flag is live, and two registers
 * are free. */
static uint32_t best_position(const struct planner *p, const struct basic_block *block,
                              uint32_t low, uint32_t high) {
    uint32_t best = NONE;
    int best_value = -1;
    for (uint32_t i = low; i <= high && i < block->count; i++) {
        if (!code_may_stand(p->graph, block, i))
            continue;
        uint32_t live = live_before(p->graph, block, i);
        int free = __builtin_popcount(~live & REGISTERS_ALL);
        int value = 4 * !(live & LIVE(0, FLAGS_ALL)) + (free > 2 ? 2 : free);
        if (value > best_value) {
            best = i;
            best_value = value;
        }
    }
    return best;
}

/* Adds a record of a block. Records of one position are one. */
static void add_block_record(struct planner *p, struct trace_records *trace,
                             struct trace_record record) {
    size_t count = trace->records.count;
    size_t at = count;
    while (at > 0 && vector_at(&trace->records, at - 1)->block == record.block &&
           vector_at(&trace->records, at - 1)->at > record.at)
        at--;
    struct trace_record *before = at > 0 ? vector_at(&trace->records, at - 1) : NULL;
    if (before && before->block == record.block && before->at == record.at) {
        before->registers |= record.registers;
        before->vectors |= record.vectors;
        return;
    }
    vector_push(p->graph->arena, &trace->records, record);
    for (size_t i = count; i > at; i--)
        trace->records.data[i] = trace->records.data[i - 1];
    trace->records.data[at] = record;
}

unsigned vectors_of_record(const struct graph *graph, const struct trace_record *record,
                           struct access_vector found[ACCESS_VECTORS_MAX]) {
    if (!record->vectors)
        return 0;
    const struct basic_block *block = &graph->blocks.data[record->block];
    return vectors_of_instruction(graph->instructions.data[block->first + record->at].decoded,
                                  found);
}

/* Whether the kernel may enter the function by its first block. */
static bool may_be_handler(const struct planner *p, uint32_t index, uint32_t at) {
    const struct graph *graph = p->graph;
    const struct symbol *symbol = &graph->unit->symbols.data[graph->function->symbol];
    return index == 0 && graph->function->compiled && is_at_entry(graph, index, at) &&
           (symbol->address_taken || symbol->global || symbol->aliased);
}

static void add_sync(struct planner *p, struct trace_records *trace, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    uint32_t at = 0;
    while (!block->padding && at < block->count && !code_may_stand(p->graph, block, at))
        at++;
    struct trace_record record = {.sync = true,
                                  .block = index,
                                  .at = at,
                                  .edge = NONE,
                                  .tests_handler = !block->padding && may_be_handler(p, index, at)};
    add_block_record(p, trace, record);
}

/* Adds the records with values of block INDEX. Those that may be at the sync's position are there.
 */
static void add_values(struct planner *p, struct trace_records *trace, uint32_t index,
                       size_t *next) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    for (; *next < trace->wanted.count && trace->wanted.data[*next].block == index; ++*next) {
        const struct wanted_values *wanted = &trace->wanted.data[*next];
        struct trace_record record = {.block = index,
                                      .edge = NONE,
                                      .registers = wanted->registers,
                                      .vectors = wanted->vectors};
        const struct trace_record *last =
            trace->records.count ? &trace->records.data[trace->records.count - 1] : NULL;
        bool near =
            last && last->block == index && last->at >= wanted->low && last->at <= wanted->high;
        record.at = near ? last->at : best_position(p, block, wanted->low, wanted->high);
        add_block_record(p, trace, record);
    }
}

static void add_witness(struct planner *p, struct trace_records *trace, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    struct trace_record record = {.block = index, .edge = NONE};
    if (!block->padding)
        record.at = best_position(p, block, 0, block->count);
    add_block_record(p, trace, record);
}

static void add_edge_record(struct planner *p, struct trace_records *trace, uint32_t index) {
    const struct edge *edge = &p->graph->edges.data[index];
    struct trace_record record = {.block = NONE, .edge = index};
    record.sync = needs_sync(p->graph, edge);
    record.registers = has_result(p->graph, trace, edge) ? REGISTER_RAX : 0;
    uint32_t source = is_block(p->graph, edge->source) ? edge->source - 1 : NONE;
    if (source != NONE && find_sync_behind(trace, source) == index) {
        record.sync = true;
        record.registers = trace->values_behind[source];
        record.tests_handler = may_be_handler(p, source, p->graph->blocks.data[source].count);
    }
    vector_push(p->graph->arena, &trace->records, record);
    trace->of_edge[index] = (uint32_t)trace->records.count;
}

static bool has_landing_pads(const struct graph *graph) {
    for (size_t i = 0; i < graph->edges.count; i++)
        if (graph->edges.data[i].kind == QUIPU_EDGE_PAD)
            return true;
    return false;
}

/* Whether the stack at the jump is that of the function's begin, and the unwinder knows it. */
static bool is_stack_of_entry(const struct frame_row *frame) {
    return frame->known && frame->by_rsp && frame->offset == (int64_t)sizeof(uint64_t);
}

/* Returns the edge by which block INDEX jumps to a known function whose result must be recorded; or
 * NONE. */
static uint32_t find_recorded_tail(const struct planner *p, const struct trace_records *trace,
                                   uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct graph_instruction *last = last_instruction(graph, block);
    if (!trace->callees[index].result || !last || block->out.count != 1 ||
        (last->decoded->class != CLASS_JUMP && last->decoded->class != CLASS_JUMP_INDIRECT))
        return NONE;
    uint32_t number = block->out.data[0];
    const struct edge *edge = &graph->edges.data[number];
    struct frame_row frame = frame_at(p, last);
    bool leaves = edge->kind == QUIPU_EDGE_TAIL && edge->target == 0 && !edge->stays;
    return leaves && !trace->of_edge[number] && code_may_stand(graph, block, block->count - 1) &&
                   is_stack_of_entry(&frame) && !has_landing_pads(graph)
               ? number
               : NONE;
}

/* Adds the record of the result of the function to which the block jumps, if it needs one. */
static void add_tail_record(struct planner *p, struct trace_records *trace, uint32_t index) {
    uint32_t edge = find_recorded_tail(p, trace, index);
    if (edge == NONE)
        return;
    struct trace_record record = {.sync = true, /* calls of traced code may be in front of it */
                                  .block = NONE,
                                  .edge = edge,
                                  .registers = REGISTER_RAX,
                                  .behind_tail = true};
    vector_push(p->graph->arena, &trace->records, record);
    trace->of_edge[edge] = trace->of_tail[index] = (uint32_t)trace->records.count;
    p->graph->blocks.data[index].tail = false; /* a copy of the block would have no record */
}

void choose_records(struct planner *p, struct trace_records *trace) {
    const struct graph *graph = p->graph;
    size_t next = 0;
    trace->of_edge = ARENA_ARRAY(graph->arena, uint32_t, graph->edges.count);
    trace->of_block = ARENA_ARRAY(graph->arena, uint32_t, graph->blocks.count);
    trace->of_tail = ARENA_ARRAY(graph->arena, uint32_t, graph->blocks.count);
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        size_t first = trace->records.count;
        if (trace->syncs[i])
            add_sync(p, trace, i);
        add_values(p, trace, i, &next);
        const struct basic_block *block = &graph->blocks.data[i];
        if (block->chord && !block->only_adds && trace->records.count == first)
            add_witness(p, trace, i);
        if (trace->records.count > first)
            trace->of_block[i] = (uint32_t)first + 1;
    }
    for (uint32_t i = 0; i < graph->edges.count; i++)
        if (graph->edges.data[i].chord && !graph->edges.data[i].only_adds)
            add_edge_record(p, trace, i);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        add_tail_record(p, trace, i);
    for (size_t i = 0; i < trace->records.count; i++)
        trace->records.data[i].label = ++p->state->labels;
}

/* The numbers of a function's witnesses that are taken. */
struct numbers {
    uint8_t used[QUIPU_TRACE_HEADS];           /* by row: first bytes */
    uint16_t used_double[QUIPU_TRACE_DOUBLES]; /* by first byte: second ones */
    uint32_t next;                             /* of those that have neither */
};

static uint32_t take_number(struct numbers *numbers, const struct trace_code *code) {
    const struct quipu_trace_head *rows = quipu_trace_heads();
    const struct quipu_trace_head *row = quipu_trace_head_of(trace_record_form(code));
    if (row && numbers->used[row - rows] < row->count)
        return row->first + (uint32_t)numbers->used[row - rows]++;
    for (uint32_t i = 0; i < QUIPU_TRACE_DOUBLES; i++)
        if (numbers->used_double[i] < 256 &&
            quipu_trace_same_form(trace_record_form(code), quipu_trace_double_form(i)))
            return 256 * (i + 1) + numbers->used_double[i]++;
    return numbers->next++;
}

void number_witnesses(struct planner *p, struct trace_records *trace) {
    struct numbers numbers = {.next = QUIPU_TRACE_NUMBERED};
    for (size_t i = 0; i < trace->records.count; i++) {
        struct trace_record *record = &trace->records.data[i];
        struct trace_code code = code_of_record(p, record);
        if (record->sync)
            continue;
        record->id = take_number(&numbers, &code);
    }
}
