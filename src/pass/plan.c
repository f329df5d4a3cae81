/* plan.c: chooses positions for counters, and makes the base ready; see plan.h.
 *
 * In executables the base is that of a segment. It is ready once the thread has cells. Code that is
 * entered from elsewhere tests for them. After that nothing in the function loses the base, except
 * a system call, which may return in a new thread.
 *
 * A base register is loaded where it is lost and a use may follow: at entries, at landing pads and
 * behind calls. A forward analysis then finds the uses at which it holds on every path. A use where
 * it does not hold loads it itself.
 *
 * requires: increments, find_liveness    makes: struct planner, except its text */
#include "pass/plan.h"

#include "format/notes.h"
#include "x86/coded.h"

#include <string.h>

static const uint32_t LIVE_FLAGS = LIVE(0, FLAGS_ALL);
static const uint32_t LIVE_FLAGS_BUT_CARRY = LIVE(0, FLAGS_ALL & ~FLAG_CARRY);

enum {
    TLS_PARTS = 3, /* instructions of a thread-local access in front of its call, at most */
};

/* ---- positions ---- */

const struct statement *statement_of(const struct planner *p,
                                     const struct graph_instruction *instruction) {
    return &p->graph->unit->statements.data[instruction->statement];
}

static bool contains(const struct graph *graph, const struct graph_instruction *instruction,
                     const char *text) {
    const struct statement *s = &graph->unit->statements.data[instruction->statement];
    return memmem(graph->unit->text + s->start, s->end - s->start, text, strlen(text)) != NULL;
}

/* Whether one of the instructions in front of instruction INDEX begins a thread-local access that
 * ends with the block's call. In the large code model two instructions are between the two. */
static bool is_in_tls_access(const struct graph *graph, const struct basic_block *block,
                             uint32_t index) {
    const struct graph_instruction *first = &graph->instructions.data[block->first];
    for (uint32_t i = index; i > 0 && index - i < TLS_PARTS; i--)
        if (contains(graph, &first[i - 1], "@tlsgd") || contains(graph, &first[i - 1], "@tlsld") ||
            contains(graph, &first[i - 1], "@TLSGD") || contains(graph, &first[i - 1], "@TLSLD"))
            return true;
    return false;
}

/* No code may be inserted in front of endbr64, where indirect branches land; behind the label of an
 * instruction whose address is recorded; where the program writes code; and inside a thread-local
 * access, which linkers rewrite as one. */
bool code_may_stand(const struct graph *graph, const struct basic_block *block, uint32_t index) {
    const struct graph_instruction *first = &graph->instructions.data[block->first];
    if (index < block->closed)
        return false;
    if (index == 0)
        return true;
    bool kept =
        index < block->count && graph->unit->statements.data[first[index].first_statement].kept;
    return !kept && !is_in_tls_access(graph, block, index) &&
           !contains(graph, &first[index - 1], "@tls") &&
           !contains(graph, &first[index - 1], "@TLS");
}

/* Moves *INDEX to the first position, from there on, where code may be inserted. Returns false if
 * there is none. Code behind the block's last instruction can only be on an edge. */
static bool next_place(const struct planner *p, const struct basic_block *block, uint32_t *index) {
    for (uint32_t i = *index; i < block->count; i++)
        if (code_may_stand(p->graph, block, i)) {
            *index = i;
            return true;
        }
    return false;
}

/* Whether the base register holds a value of the program, where LIVE is live. */
static bool base_is_live(const struct planner *p, uint32_t live) {
    return p->base != BASE_SEGMENT && (live >> p->base & 1);
}

/* Whether calls lose the base. A callee may change the base register, but not the base of a
 * segment. */
static bool calls_lose_base(const struct planner *p) {
    return p->base != BASE_SEGMENT;
}

static bool writes_base(const struct planner *p, const struct graph_instruction *instruction) {
    return instruction->decoded->registers_written >> p->base & 1;
}

static bool loses_base(const struct planner *p, const struct graph_instruction *instruction) {
    uint8_t class = instruction->decoded->class;
    if (class == CLASS_SYSTEM) /* it may return in another thread */
        return true;
    return calls_lose_base(p) && (writes_base(p, instruction) || is_call_class(class));
}

/* Chooses the position of the block's counter: the first one where flags are dead and the base
 * register is free; otherwise the first one with dead flags; otherwise the first one. In a block
 * that counts iterations of an unrolled loop (flow/unroll.c): the last one where flags are dead and
 * the base register is free. Returns NONE if no code may be inserted. */
static uint32_t choose_counter_position(const struct planner *p, const struct basic_block *block) {
    uint32_t first = 0, best = NONE, second = NONE;
    uint32_t changed = LIVE(0, changed_flags(&block->increments));
    if (!next_place(p, block, &first))
        return NONE;
    for (uint32_t i = first; i < block->count && next_place(p, block, &i); i++) {
        uint32_t live = live_before(p->graph, block, i);
        bool dead = !(live & changed);
        if (dead && second == NONE)
            second = i;
        if (dead && !base_is_live(p, live)) {
            best = i;
            if (!block->counts_turns)
                break;
        }
    }
    return best != NONE ? best : second != NONE ? second : first;
}

/* ---- the base ---- */

/* Returns the sum of the frequencies of all blocks in which the program uses register CANDIDATE. */
static double base_cost(const struct planner *p, int candidate) {
    const struct graph *graph = p->graph;
    double cost = 0;
    for (size_t i = 0; i < graph->blocks.count; i++) {
        const struct basic_block *block = &graph->blocks.data[i];
        bool taken = ((block->live_in | block->live_out) >> candidate & 1);
        for (uint32_t n = 0; n < block->count && !taken; n++)
            taken =
                graph->instructions.data[block->first + n].decoded->registers_written >> candidate &
                1;
        cost += taken ? block->frequency : 0;
    }
    return cost;
}

static int choose_base(const struct planner *p) {
    if (!p->state->options->shared || !counts_anything(p->state->options))
        return BASE_SEGMENT;
    int best = base_candidates[0];
    double best_cost = base_cost(p, best);
    for (int i = 1; i < BASE_CANDIDATES && best_cost > 0; i++) {
        double cost = base_cost(p, base_candidates[i]);
        if (cost < best_cost) {
            best = base_candidates[i];
            best_cost = cost;
        }
    }
    return best;
}

static void plan_block(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    struct block_plan *plan = &p->blocks[index];
    if (block->padding)
        return;
    uint32_t top = 0;
    plan->top = next_place(p, block, &top) ? top : block->count;
    plan->counter_at = block->increments.count ? choose_counter_position(p, block) : plan->top;
    if (plan->counter_at == NONE)
        plan->counter_at = plan->top;
    for (uint32_t i = 0; i < block->count; i++)
        if (loses_base(p, &graph->instructions.data[block->first + i])) {
            if (i < plan->counter_at)
                plan->killed_above = true;
            else
                plan->killed_below = true;
        }
}

/* Whether on the edge, or behind it, a use of the base may follow before it is lost. */
static bool needed_behind(const struct planner *p, const struct edge *edge) {
    const struct graph *graph = p->graph;
    if (edge->increments.count)
        return true;
    if (is_block(graph, edge->target))
        return p->blocks[edge->target - 1].needed;
    if (edge->target == 0)
        return false;
    for (size_t i = 0; i < graph->edges.count; i++) { /* a hub */
        const struct edge *next = &graph->edges.data[i];
        if (next->source == edge->target && is_block(graph, next->target) &&
            p->blocks[next->target - 1].needed)
            return true;
    }
    return false;
}

static bool find_need(const struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct block_plan *plan = &p->blocks[index];
    if (plan->killed_above)
        return false;
    if (block->increments.count)
        return true;
    if (plan->killed_below)
        return false;
    for (size_t i = 0; i < block->out.count; i++)
        if (needed_behind(p, &graph->edges.data[block->out.data[i]]))
            return true;
    return false;
}

static void find_needs(struct planner *p) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = (uint32_t)p->graph->blocks.count; i-- > 0;)
            if (!p->blocks[i].needed && find_need(p, i))
                p->blocks[i].needed = changed = true;
    }
}

/* Whether the base can be loaded where LIVE is live. A load changes the base register and all
 * flags. */
static bool can_load(const struct planner *p, uint32_t live) {
    return !base_is_live(p, live) && !(live & LIVE_FLAGS);
}

/* Whether the base must be made ready where EDGE enters from outside. */
static bool wants_load(const struct planner *p, const struct edge *edge) {
    if (!counts_anything(p->state->options))
        return false;
    if (edge->kind == QUIPU_EDGE_ENTRY && p->base == BASE_SEGMENT)
        return !p->internal; /* callees may rely on it */
    return p->blocks[edge->target - 1].needed;
}

/* Returns what is live in front of a gap: everything, since control may continue anywhere. But
 * where a function begins, no flag is live, and %r11 is free. */
static uint32_t live_in_front(const struct planner *p, uint32_t index) {
    const struct basic_block *gap = &p->graph->blocks.data[index];
    bool begins = index == 0 && p->graph->function->compiled && enters_once(p->graph, gap);
    return begins ? LIVE(REGISTERS_ALL & ~REGISTER_R11, 0) : gap->live_in;
}

static void place_loads(struct planner *p) {
    const struct graph *graph = p->graph;
    for (size_t i = 0; i < graph->edges.count; i++) {
        const struct edge *edge = &graph->edges.data[i];
        if (!is_block(graph, edge->target))
            continue;
        const struct basic_block *target = &graph->blocks.data[edge->target - 1];
        struct block_plan *plan = &p->blocks[edge->target - 1];
        if (edge->source == 0 && wants_load(p, edge)) {
            bool can = target->gap
                           ? !target->closed && can_load(p, live_in_front(p, edge->target - 1))
                           : plan->top < target->count && plan->top <= plan->counter_at &&
                                 can_load(p, live_before(graph, target, plan->top));
            plan->load_at_top |= can;
            p->state->unasked |= !can && edge->kind == QUIPU_EDGE_ENTRY;
        }
        if (edge->kind == QUIPU_EDGE_CALL && calls_lose_base(p) && needed_behind(p, edge) &&
            can_load(p, target->live_in))
            p->load_on_edge[i] = true;
    }
}

bool holds_on_edge(const struct planner *p, uint32_t index) {
    const struct edge *edge = &p->graph->edges.data[index];
    if (edge->kind == QUIPU_EDGE_CALL && calls_lose_base(p))
        return p->load_on_edge[index];
    if (is_block(p->graph, edge->source))
        return p->blocks[edge->source - 1].holds_at_end;
    if (edge->source == 0) /* a load for an entry is at the block's top, behind this edge */
        return p->internal && edge->kind == QUIPU_EDGE_ENTRY;
    for (size_t i = 0; i < p->graph->edges.count; i++)
        if (p->graph->edges.data[i].target == edge->source && !holds_on_edge(p, (uint32_t)i))
            return false;
    return true;
}

/* Whether the counter's code leaves the base loaded if it does not hold in front of that code. */
static bool counter_loads(const struct planner *p, uint32_t index) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    return increments_load(&p->context, &block->increments, p->base) &&
           can_load(p, live_before(p->graph, block, p->blocks[index].counter_at));
}

static void find_holding(struct planner *p) {
    const struct graph *graph = p->graph;
    for (size_t i = 0; i < graph->blocks.count; i++)
        p->blocks[i].holds_at_top = p->blocks[i].holds_at_end = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < graph->blocks.count; i++) {
            struct block_plan *plan = &p->blocks[i];
            const struct basic_block *block = &graph->blocks.data[i];
            bool holds = true;
            for (size_t e = 0; e < block->in.count; e++)
                holds = holds && holds_on_edge(p, block->in.data[e]);
            bool above = (holds || plan->load_at_top) && !plan->killed_above;
            bool end = (above || counter_loads(p, i)) && !plan->killed_below;
            changed |= holds != plan->holds_at_top || end != plan->holds_at_end;
            plan->holds_at_top = holds;
            plan->holds_at_end = end;
        }
    }
}

struct clobbers clobbers_at(const struct planner *p, uint32_t live, bool holds,
                            struct frame_row frame, uint32_t cycle) {
    return (struct clobbers){
        .base = p->base,
        .base_holds = holds,
        .base_free = !base_is_live(p, live),
        .free = (uint16_t)(~live & REGISTERS_ALL & ~(1u << p->base)),
        .cycle = cycle,
        .flags_free = !(live & LIVE_FLAGS),
        .flags_but_carry = !(live & LIVE_FLAGS_BUT_CARRY),
        .red_zone_free = p->red_zone_free,
        .frame = frame,
    };
}

const char *function_label(const struct planner *p) {
    return arena_print(p->graph->arena, ".LQf%u_0", p->context.cells);
}

struct frame_row frame_at(const struct planner *p, const struct graph_instruction *instruction) {
    return p->graph->rows.data[p->row_of[instruction->first_statement]];
}

void make_plan(struct planner *p) {
    const struct graph *graph = p->graph;
    struct arena *arena = graph->arena;
    p->blocks = ARENA_ARRAY(arena, struct block_plan, graph->blocks.count);
    p->placed = ARENA_ARRAY(arena, struct placed_block, graph->blocks.count);
    p->load_on_edge = ARENA_ARRAY(arena, bool, graph->edges.count);
    p->row_of = graph->index->row_of;
    p->base = choose_base(p);
    p->red_zone_free = leaves_red_zone_free(graph);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        plan_block(p, i);
    find_needs(p);
    place_loads(p);
    find_holding(p);
}

/* ---- entries and exits ---- */

bool enters_by(const struct graph *graph, const struct basic_block *block,
               enum quipu_edge_kind kind) {
    for (size_t i = 0; i < block->in.count; i++)
        if (graph->edges.data[block->in.data[i]].kind == kind)
            return true;
    return false;
}

bool enters_once(const struct graph *graph, const struct basic_block *block) {
    for (size_t i = 0; i < block->in.count; i++)
        if (graph->edges.data[block->in.data[i]].kind != QUIPU_EDGE_ENTRY)
            return false;
    return !block->address_taken;
}

const struct edge *edge_away(const struct planner *p, const struct basic_block *block) {
    for (size_t i = 0; i < block->out.count; i++) {
        const struct edge *edge = &p->graph->edges.data[block->out.data[i]];
        if (edge->target == 0 && !edge->stays &&
            (edge->kind == QUIPU_EDGE_RETURN || edge->kind == QUIPU_EDGE_TAIL))
            return edge;
    }
    return NULL;
}
