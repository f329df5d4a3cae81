/* cursor.c: where %r11 is the thread's cursor, and where there is room for sure.
 *
 * A record's code leaves the cursor in %r11 if that is free. A forward analysis finds the records
 * at which it is still there on every path: no call, system call or other change of %r11 is
 * between. They need not load it. It counts the bytes, too, that may be written on any path since
 * there was a test of the room. A buffer has some space behind its end, so not every record tests.
 *
 * requires: choose_records, find_liveness   makes: held, roomy of records
 * Not perfect: code of other features may change %r11, so with these each record loads the cursor.
 */
#include "pass/trace/trace.h"

#include "format/trace.h"
#include "pass/plan.h"

enum {
    ROOM = QUIPU_TRACE_SLACK / 4 /* bytes that may be written behind a test, without another one */
};

/* What holds at a point on every path. */
struct cursor_state {
    bool held;
    uint32_t room; /* 0: %r11 is not held, or a test is needed */
};

struct cursor_analysis {
    struct planner *p;
    const struct graph *graph;
    struct trace_records *trace;
    struct cursor_state *behind; /* by block: behind its last instruction */
    struct cursor_state *hubs;   /* by hub */
};

static const struct cursor_state not_held = {false, 0};

uint32_t live_at_record(const struct graph *graph, const struct trace_record *record) {
    if (record->block != NONE) {
        const struct basic_block *block = &graph->blocks.data[record->block];
        return block->padding ? block->live_in : live_before(graph, block, record->at);
    }
    if (record->behind_tail) /* a call has returned */
        return LIVE((uint16_t)~registers_of_callee() | REGISTER_RAX, 0);
    uint32_t target = graph->edges.data[record->edge].target;
    return is_block(graph, target) ? graph->blocks.data[target - 1].live_in
                                   : LIVE(REGISTERS_ALL, FLAGS_ALL);
}

/* Whether the record may run again and again with no other one that tests between. */
static bool is_in_loop(const struct graph *graph, const struct trace_record *record) {
    uint32_t block = record->block;
    if (block == NONE)
        block = graph->edges.data[record->edge].source - 1;
    return graph->blocks.data[block].loop_depth > 0;
}

struct trace_code code_of_record(const struct planner *p, const struct trace_record *record) {
    struct trace_code code = {.sync = record->sync,
                              .id = record->id,
                              .label = record->label,
                              .registers = record->registers,
                              .narrow = record->narrow,
                              .repeats = record->repeats,
                              .last = record->last,
                              .shared = p->state->options->shared,
                              .held = record->held,
                              .roomy = record->roomy};
    code.tested = !record->roomy && (record->vectors || is_in_loop(p->graph, record));
    code.vector_count = vectors_of_record(p->graph, record, code.vectors);
    return code;
}

static bool loses_cursor(const struct graph_instruction *instruction) {
    uint8_t class = instruction->decoded->class;
    return is_call_class(class) || class == CLASS_SYSTEM || class == CLASS_TRANSACTION ||
           instruction->decoded->registers_written & REGISTER_R11;
}

/* Returns what holds behind RECORD if STATE holds in front of it, and notes that. */
static struct cursor_state pass_record(struct cursor_analysis *a, struct trace_record *record,
                                       struct cursor_state state) {
    struct trace_code code = code_of_record(a->p, record);
    struct clobbers clobbers =
        clobbers_at(a->p, live_at_record(a->graph, record), false, (struct frame_row){0}, 0);
    uint32_t size = trace_record_size(&code);
    bool holds = trace_record_holds(&code, &clobbers);
    record->held = state.held && holds;
    record->roomy = record->held && state.room >= size;
    if (!holds)
        return not_held;
    if (record->roomy)
        return (struct cursor_state){true, state.room - size};
    return (struct cursor_state){true, clobbers.flags_free || code.tested ? ROOM : 0};
}

/* Whether the order of threads has a site in front of instruction AT of block INDEX. Its code
 * changes %r11, and the cursor. */
static bool takes_ticket(const struct order_sites *sites, uint32_t index, uint32_t at) {
    size_t next = sites->of_block[index] ? sites->of_block[index] - 1 : sites->list.count;
    for (; next < sites->list.count && sites->list.data[next].block == index; next++)
        if (sites->list.data[next].at == at)
            return true;
    return false;
}

static struct cursor_state pass_block(struct cursor_analysis *a, uint32_t index,
                                      struct cursor_state state) {
    const struct basic_block *block = &a->graph->blocks.data[index];
    size_t next = a->trace->of_block[index] ? a->trace->of_block[index] - 1 : SIZE_MAX;
    for (uint32_t i = 0; i <= block->count; i++) {
        for (; next < a->trace->records.count; next++) {
            struct trace_record *record = &a->trace->records.data[next];
            if (record->block != index || record->at > i)
                break;
            state = pass_record(a, record, state);
        }
        if (takes_ticket(&a->trace->order, index, i))
            state = not_held;
        if (i < block->count && loses_cursor(&a->graph->instructions.data[block->first + i]))
            state = not_held;
    }
    return block->switched ? not_held : state;
}

static struct cursor_state meet(struct cursor_state one, struct cursor_state other) {
    return (struct cursor_state){one.held && other.held,
                                 one.room < other.room ? one.room : other.room};
}

/* Whether the edge may close a cycle: each cycle has an edge that leads back in the text, or passes
 * a hub. */
static bool leads_back(const struct graph *graph, const struct edge *edge) {
    return !is_block(graph, edge->source) || edge->target <= edge->source;
}

/* Returns what holds at the end of edge INDEX. */
static struct cursor_state pass_edge(struct cursor_analysis *a, uint32_t index) {
    const struct graph *graph = a->graph;
    const struct edge *edge = &graph->edges.data[index];
    struct cursor_state state = not_held;
    if (is_block(graph, edge->source))
        state = a->behind[edge->source - 1];
    else if (edge->source != 0)
        state = a->hubs[edge->source - graph->blocks.count - 1];
    struct trace_record *record =
        a->trace->of_edge[index] ? &a->trace->records.data[a->trace->of_edge[index] - 1] : NULL;
    if (edge->kind == QUIPU_EDGE_CALL || returns_again(graph, edge) ||
        (record && record->behind_tail))
        state = not_held;
    if (record)
        state = pass_record(a, record, state);
    if (leads_back(graph, edge))
        state.room = 0;
    return state;
}

/* Joins what holds at the ends of all edges to hubs. */
static void find_hubs(struct cursor_analysis *a) {
    const struct graph *graph = a->graph;
    for (uint32_t i = 0; i < graph->hub_count; i++)
        a->hubs[i] = (struct cursor_state){true, ROOM};
    for (uint32_t i = 0; i < graph->edges.count; i++) {
        uint32_t target = graph->edges.data[i].target;
        if (target == 0 || is_block(graph, target))
            continue;
        struct cursor_state *hub = &a->hubs[target - graph->blocks.count - 1];
        *hub = meet(*hub, pass_edge(a, i));
    }
}

static bool find_behind(struct cursor_analysis *a, uint32_t index) {
    const struct basic_block *block = &a->graph->blocks.data[index];
    struct cursor_state state = {true, ROOM};
    for (size_t i = 0; i < block->in.count; i++)
        state = meet(state, pass_edge(a, block->in.data[i]));
    state = pass_block(a, index, state);
    bool changed = state.held != a->behind[index].held || state.room != a->behind[index].room;
    a->behind[index] = state;
    return changed;
}

void find_cursors(struct planner *p, struct trace_records *trace) {
    const struct graph *graph = p->graph;
    if (!graph->function->compiled || p->state->on_count > 1)
        return;
    struct cursor_analysis a = {
        .p = p,
        .graph = graph,
        .trace = trace,
        .behind = ARENA_ARRAY(graph->arena, struct cursor_state, graph->blocks.count),
        .hubs = ARENA_ARRAY(graph->arena, struct cursor_state, graph->hub_count + 1),
    };
    for (size_t i = 0; i < graph->blocks.count; i++)
        a.behind[i] = (struct cursor_state){true, ROOM};
    for (bool changed = true; changed;) {
        changed = false;
        find_hubs(&a);
        for (uint32_t i = 0; i < graph->blocks.count; i++)
            changed |= find_behind(&a, i);
    }
    find_hubs(&a);
    for (uint32_t i = 0; i < graph->edges.count; i++) /* notes what holds at records on edges */
        pass_edge(&a, i);
}
