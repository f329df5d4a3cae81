/* trace_site.c: sites of traces; see trace_site.h.
 *
 * A module's sites are armed before any thread executes its code, or while all threads are stopped.
 * So sites need no alignment. */
#include "x86/trace_site.h"

#include "format/jump.h"
#include "format/watch.h"
#include "x86/store_check.h"

void write_trace_place(struct buffer *out, uint32_t label) {
    buffer_print(out, ".LQa%u: " SITE_TEXT "; .LQq%u:", label, label);
}

const char *trace_jump_prefix(struct arena *arena, uint32_t label) {
    return arena_print(arena, ".LQj%u: " LONG_JUMP_PREFIX, label);
}

void write_trace_site_code(const struct code_context *context, const struct trace_site *site,
                           const struct buffer *code, const struct buffer *inner) {
    struct buffer *out = context->tests;
    if (context->marks) {
        struct increment_mark mark = {.label = site->label, .out_of_line = true};
        vector_push(context->arena, context->marks, mark);
    }
    buffer_print(out, "; %s.LQs%u: ", context->line ? context->line : "", site->label);
    write_frame(out, &site->frame, 0);
    buffer_text(out, code->data);
    if (site->kind == TRACE_SITE_PLACE)
        buffer_print(out, " jmp .LQq%u;", site->label);
    else if (site->kind == TRACE_SITE_JUMP)
        buffer_print(out, " jmp %s;", site->target);
    else
        buffer_text(out, ";");
    buffer_print(out, " .LQy%u:", site->label);
    write_frame_end(out, &site->frame);
    if (inner->count)
        buffer_add(out, inner->data, inner->count);
}

void write_trace_site_row(struct buffer *out, const struct trace_site *site) {
    if (site->kind == TRACE_SITE_JUMP)
        buffer_print(out, "\t.long .LQj%u+%d-., ", site->label, X86_CONDITIONAL_OPCODE);
    else
        buffer_print(out, "\t.long .LQa%u-., ", site->label);
    buffer_print(out, ".LQs%u-., .LQ%c%u-., 0x%x\n", site->label, site->record, site->label,
                 site->kind == TRACE_SITE_JUMP   ? QUIPU_SITE_TRACE_JUMP
                 : site->kind == TRACE_SITE_LOOP ? QUIPU_SITE_TRACE_LOOP
                                                 : QUIPU_SITE_TRACE);
}

void write_trace_copy_row(struct buffer *out, uint32_t piece, uint32_t begin, uint32_t end) {
    buffer_print(out, "\t.long .LQb%u-., .LQo%u-., .LQo%u-., 0x%x\n", piece, begin, end,
                 QUIPU_SITE_TRACE_COPY);
}
