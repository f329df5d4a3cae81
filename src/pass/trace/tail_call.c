/* tail_call.c: results of functions to which a function jumps at its end.
 *
 * "return malloc(size);" is a jump to malloc, which returns to the caller. No code of this function
 * sees the result. So in front of the jump there is a call of the same function, a record of the
 * result, and a return. The jump stays as it is, but does not run: the trace shows it.
 *
 * requires: find_wanted_values   maintains: what the function's callers see
 * Not perfect: a conditional jump is left as it is. So is a jump of a function with landing pads,
 * as its tables for the unwinder have no call there. */
#include "pass/trace/trace.h"

#include "asm/operand.h"
#include "pass/plan.h"
#include "x86/trace_record.h"

void insert_tail_call(struct planner *p, const struct trace_records *trace, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    const struct graph_instruction *last = last_instruction(graph, block);
    const struct statement *jump = &graph->unit->statements.data[last->statement];
    struct frame_row frame = frame_at(p, last), below = frame;
    const struct trace_record *record = &trace->records.data[trace->of_tail[index] - 1];
    struct buffer text = {0};
    below.offset += (int64_t)sizeof(uint64_t);
    anchor_code(p, &text, block->fragment, sums_in_block(p, index, block->count - 1, true));
    set_counted_line(p, last);
    struct site_code site;
    begin_site(p, &site);
    write_tail_call(&site.code, &frame, find_callee_name(graph->unit, jump), jump->symbol == NONE);
    write_record(p, &site.code, record, &below);
    write_tail_return(&site.code, &frame);
    struct trace_site row = site_of_record(record, block, &frame);
    row.kind = TRACE_SITE_LAST;
    end_site(p, &text, &site, row);
    split_block(p, index, block->count - 1);
    insert_at(p, last, &text);
    anchor_marks(p);
}
