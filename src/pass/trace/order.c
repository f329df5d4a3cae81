/* order.c: where a function takes tickets, and where it records what calls access; and the code
 * there. See order.h.
 *
 * A site is at the begin of a piece. So whoever follows the path knows when it is there. Behind the
 * last instruction of a block it is at the begin of the next one: control may come there without
 * that instruction, and then takes a ticket that nobody needs.
 *
 * requires: build_graph, find_liveness   maintains: as insert.c
 * Not perfect: behind a jump to a function that acquires (a tail call) there is no site. */
#include "pass/trace/order.h"

#include "asm/operand.h"
#include "format/trace.h"
#include "pass/trace/site.h"
#include "x86/callee.h"
#include "x86/trace_order.h"

static bool leaves(const struct decoded *decoded) {
    return is_call_class(decoded->class) || decoded->class == CLASS_JUMP ||
           decoded->class == CLASS_JUMP_INDIRECT;
}

/* Returns what INSTRUCTION needs, by itself or because of its callee. */
static struct synchronization need_of(const struct graph *graph,
                                      const struct graph_instruction *instruction) {
    const struct statement *statement = &graph->unit->statements.data[instruction->statement];
    const struct decoded *decoded = instruction->decoded;
    if (leaves(decoded)) {
        struct span name = find_callee_name(graph->unit, statement);
        return find_synchronization(name.start, name.length);
    }
    return (struct synchronization){ticket_sides_of(decoded), decoded->class == CLASS_SYSTEM};
}

static void push_site(struct planner *p, struct order_sites *sites, struct order_site site) {
    vector_push(p->graph->arena, &sites->list, site);
    if (!sites->of_block[site.block])
        sites->of_block[site.block] = (uint32_t)sites->list.count;
}

/* Adds a site in front of instruction AT of the block. Sites of one position are one. */
static void add_site(struct planner *p, struct order_sites *sites, uint32_t index, uint32_t at,
                     bool always) {
    const struct basic_block *block = &p->graph->blocks.data[index];
    while (at > 0 && !code_may_stand(p->graph, block, at))
        at--;
    if (block->padding || at >= block->count || !code_may_stand(p->graph, block, at))
        return;
    size_t count = sites->list.count;
    struct order_site *last = count ? &sites->list.data[count - 1] : NULL;
    if (last && last->block == index && last->at == at && last->measures == NO_MEASURES) {
        last->always |= always;
        return;
    }
    push_site(p, sites, (struct order_site){index, at, always, ++p->state->labels, NO_MEASURES});
}

/* Returns the row (format/trace.h) of the site that INSTRUCTION, a call or jump, needs, or
 * NO_MEASURES. LIBRARY: the C library has records, too. */
static uint32_t row_of_callee(const struct graph *graph,
                              const struct graph_instruction *instruction, bool library) {
    const struct statement *statement = &graph->unit->statements.data[instruction->statement];
    if (!graph->function->compiled || statement->inline_asm || !leaves(instruction->decoded))
        return NO_MEASURES;
    struct span name = find_callee_name(graph->unit, statement);
    uint32_t row = find_caller_of_kernel(name.start, name.length);
    if (library)
        return row == QUIPU_TRACE_SYSCALL_CP ? row : NO_MEASURES;
    return row == NO_MEASURES ? find_measures(name.start, name.length) : row;
}

/* Adds a site in front of instruction AT of the block if that enters the kernel, or calls, or jumps
 * to, a function whose accesses depend on what is in memory. */
static void add_measure(struct planner *p, struct order_sites *sites, uint32_t index, uint32_t at,
                        bool library) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct graph_instruction *instruction = &graph->instructions.data[block->first + at];
    uint32_t row = is_syscall(instruction->decoded) ? QUIPU_TRACE_SYSTEM_CALL
                                                    : row_of_callee(graph, instruction, library);
    if (row != NO_MEASURES && !block->padding && code_may_stand(graph, block, at))
        push_site(p, sites, (struct order_site){index, at, true, ++p->state->labels, row});
}

/* Returns what the blocks in front of block INDEX need behind their last instructions. */
static struct synchronization need_at_begin(const struct graph *graph, uint32_t index) {
    const struct basic_block *block = &graph->blocks.data[index];
    struct synchronization need = {0};
    for (size_t i = 0; i < block->in.count; i++) {
        const struct edge *edge = &graph->edges.data[block->in.data[i]];
        const struct graph_instruction *last =
            is_block(graph, edge->source)
                ? last_instruction(graph, &graph->blocks.data[edge->source - 1])
                : NULL;
        struct synchronization one = {0};
        if (last && (edge->kind == QUIPU_EDGE_CALL || edge->kind == QUIPU_EDGE_FALL))
            one = need_of(graph, last);
        if (one.sides & TICKET_BEHIND) {
            need.sides = TICKET_BEHIND;
            need.always |= one.always;
        }
    }
    return need;
}

void choose_order_sites(struct planner *p, struct order_sites *sites, bool library) {
    const struct graph *graph = p->graph;
    *sites =
        (struct order_sites){.of_block = ARENA_ARRAY(graph->arena, uint32_t, graph->blocks.count)};
    for (uint32_t index = 0; index < graph->blocks.count; index++) {
        const struct basic_block *block = &graph->blocks.data[index];
        struct synchronization need = need_at_begin(graph, index);
        for (uint32_t at = 0; at < block->count; at++) {
            struct synchronization next =
                need_of(graph, &graph->instructions.data[block->first + at]);
            if (need.sides & TICKET_BEHIND)
                add_site(p, sites, index, at, need.always);
            if (next.sides & TICKET_IN_FRONT)
                add_site(p, sites, index, at, next.always);
            if (at + 1 == block->count)
                add_measure(p, sites, index, at, library);
            need = next;
        }
    }
}

static void insert_site(struct planner *p, const struct order_site *site) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[site->block];
    const struct graph_instruction *at = &graph->instructions.data[block->first + site->at];
    struct buffer text = {0};
    struct order_code code = {site->label, p->state->options->shared, site->always};
    struct clobbers clobbers =
        clobbers_at(p, live_before(graph, block, site->at), false, frame_at(p, at), 0);
    anchor_code(
        p, &text, block->fragment,
        sums_in_block(p, site->block, site->at, site->at > p->blocks[site->block].counter_at));
    set_counted_line(p, at);
    struct site_code out_of_line;
    begin_site(p, &out_of_line);
    if (site->measures == NO_MEASURES)
        write_order_site(&out_of_line.code, &p->context, &code, &clobbers);
    else if (site->measures == QUIPU_TRACE_SYSTEM_CALL)
        write_system_call_site(&out_of_line.code, site->label, &clobbers.frame);
    else
        write_measure_site(&out_of_line.code, site->label, site->measures,
                           !is_call_class(at->decoded->class));
    buffer_text(&out_of_line.code, ";");
    end_site(p, &text, &out_of_line,
             (struct trace_site){.label = site->label,
                                 .record = 'o',
                                 .fragment = block->fragment,
                                 .frame = clobbers.frame});
    split_block(p, site->block, site->at);
    insert_at(p, at, &text);
    anchor_marks(p);
}

void insert_order_sites(struct planner *p, const struct order_sites *sites, uint32_t index) {
    if (!sites->of_block[index])
        return;
    for (size_t i = sites->of_block[index] - 1;
         i < sites->list.count && sites->list.data[i].block == index; i++)
        insert_site(p, &sites->list.data[i]);
}

/* Returns the number of the piece that begins at the site. */
static uint32_t piece_of(const struct planner *p, const struct order_site *site,
                         const struct pieces *pieces) {
    const struct basic_block *block = &p->graph->blocks.data[site->block];
    const struct placed_block *placed = &p->placed[site->block];
    for (size_t i = 0; i <= placed->splits.count; i++)
        if (piece_at(p->graph, block, placed, i).from == site->at)
            return pieces->first[site->block] + (uint32_t)i;
    CHECK(!"a site is at the begin of a piece");
    return 0;
}

void add_order_sites(struct record *note, const struct planner *p, const struct order_sites *sites,
                     const struct pieces *pieces, uint32_t function) {
    record_number(note, sites->list.count);
    for (size_t i = 0; i < sites->list.count; i++) {
        const struct order_site *site = &sites->list.data[i];
        unsigned fragment = p->graph->blocks.data[site->block].fragment;
        record_number(note, fragment);
        flush_record(note);
        buffer_print(note->out, "\t.long .LQo%u-.LQf%u_%u\n", site->label, function, fragment);
        record_number(note, piece_of(p, site, pieces));
    }
}
