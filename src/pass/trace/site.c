/* site.c: code of traces that is left out until a trace is recorded.
 *
 * In a build with moments as well, most runs record no trace. So the code of records and tickets is
 * out of line there. What is left in line is a site: a no-operation, or a conditional jump that
 * leads elsewhere once the site is armed (format/watch.h). The runtime arms all sites of a module
 * before its code runs (runtime/trace/sites.c).
 *
 * Invariant: code out of line runs where its site is, with the same registers, flags and stack.
 *
 * requires: a plan   maintains: as insert.c */
#include "pass/trace/site.h"

#include "format/watch.h"
#include "pass/feature.h"
#include "pass/plan.h"
#include "pass/trace/trace.h"

bool leaves_records_out(const struct pass_state *state) {
    return moment_feature.is_on(state->options);
}

char end_label(const struct pass_state *state) {
    return leaves_records_out(state) ? 'y' : 'x';
}

void begin_site(struct planner *p, struct site_code *site) {
    *site = (struct site_code){.stubs = p->context.stubs};
    if (leaves_records_out(p->state))
        p->context.stubs = &site->inner;
}

/* Puts the code out of line. */
static void put_out_of_line(struct planner *p, struct site_code *site, struct trace_site *row) {
    struct trace_records *trace = unit_data(p->state, &trace_feature);
    p->context.stubs = site->stubs;
    write_trace_site_code(&p->context, row, &site->code, &site->inner);
    vector_push(p->graph->arena, &trace->sites, *row);
}

static void release_code(struct site_code *site) {
    buffer_release(&site->code);
    buffer_release(&site->inner);
}

void end_site(struct planner *p, struct buffer *out, struct site_code *site,
              struct trace_site row) {
    if (leaves_records_out(p->state)) {
        put_out_of_line(p, site, &row);
        write_trace_place(out, row.label);
    } else {
        buffer_add(out, site->code.data, site->code.count);
    }
    release_code(site);
}

/* Whether the jump of EDGE may lead elsewhere, and nothing else is on the edge. */
static bool may_lead_elsewhere(const struct planner *p, uint32_t index) {
    const struct edge *edge = &p->graph->edges.data[index];
    const struct basic_block *source = &p->graph->blocks.data[edge->source - 1];
    const struct graph_instruction *last = last_instruction(p->graph, source);
    const struct statement *s = statement_of(p, last);
    return edge->kind == QUIPU_EDGE_TAKEN && last->decoded->class == CLASS_CONDITIONAL &&
           last->first_statement == last->statement && !s->inline_asm && !s->opaque &&
           inverted_condition(p->graph->unit->text + s->start, statement_word(p->graph->unit, s)) &&
           !edge->increments.count && !p->load_on_edge[index];
}

void end_site_on_edge(struct planner *p, struct buffer *out, struct site_code *site,
                      struct trace_site row, uint32_t edge) {
    const struct basic_block *source =
        &p->graph->blocks.data[p->graph->edges.data[edge].source - 1];
    if (!leaves_records_out(p->state) || !may_lead_elsewhere(p, edge)) {
        end_site(p, out, site, row);
        return;
    }
    const struct statement *s = statement_of(p, last_instruction(p->graph, source));
    row.kind = TRACE_SITE_JUMP;
    row.jump = s->start;
    row.target = portable_operand(p, s, branch_operand(p, s));
    put_out_of_line(p, site, &row);
    release_code(site);
    p->placed[p->graph->edges.data[edge].source - 1].turned = true; /* it is long already */
}

/* Makes the jump of SITE long, and names its bytes. Labels of blocks, in front of all that, are
 * written. */
static void name_jump(struct planner *p, const struct trace_site *site) {
    replace_text(&p->state->edits, site->jump, 0,
                 trace_jump_prefix(&p->state->unit->arena, site->label));
}

void write_trace_sites(struct planner *p, const struct trace_records *trace, uint32_t number) {
    const struct asm_function *function = p->graph->function;
    for (size_t f = 0; f < function->fragments.count; f++) {
        bool entered = false;
        for (size_t i = 0; i < trace->sites.count; i++) {
            if (trace->sites.data[i].fragment != f)
                continue;
            if (!entered)
                enter_rows(p->state, function, number, f, QUIPU_SITES_SECTION);
            entered = true;
            if (trace->sites.data[i].kind == TRACE_SITE_JUMP)
                name_jump(p, &trace->sites.data[i]);
            write_trace_site_row(&p->state->tail, &trace->sites.data[i]);
        }
        write_unrolled_rows(p, trace, f); /* a fragment with a loop has sites */
    }
}
