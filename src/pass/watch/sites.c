/* sites.c: what the files of watched memory share: their data, the table of sites, and the rules of
 * unwinding for code out of line.
 *
 * Invariant: out_of_line of a function's data is the frame at the end of far_stubs. */
#include "pass/watch/watch.h"

#include "x86/frame_check.h"

#include <string.h>

struct watched_unit *watched_unit(const struct pass_state *state) {
    return unit_data(state, &watch_feature);
}

struct watched_function *watched_function(const struct planner *p) {
    return function_data(p, &watch_feature);
}

struct buffer *site_rows(struct planner *p, uint8_t fragment) {
    struct watched_function *function = watched_function(p);
    while (function->sites.count <= fragment)
        vector_push(p->graph->arena, &function->sites, (struct buffer){0});
    return &function->sites.data[fragment];
}

/* Makes the linker keep the early start of the runtime if it keeps this code. */
static void keep_early_start(struct planner *p, uint32_t number, size_t fragment) {
    const struct fragment *there = &p->graph->function->fragments.data[fragment];
    buffer_print(&p->state->tail, "\t%s\n\t.reloc .LQf%u_%zu, R_X86_64_NONE, quipu_watch_early\n",
                 p->state->unit->sections.data[there->section].directive, number, fragment);
}

void write_sites(struct planner *p, uint32_t number) {
    const struct asm_function *function = p->graph->function;
    const struct symbol *symbol = &p->state->unit->symbols.data[function->symbol];
    bool is_main = symbol->global && span_is((struct span){symbol->name, symbol->length}, "main");
    for (size_t f = 0; f < function->fragments.count; f++) {
        struct buffer *rows = site_rows(p, (uint8_t)f);
        if (!p->state->options->shared)
            keep_early_start(p, number, f);
        enter_rows(p->state, function, number, f, QUIPU_SITES_SECTION);
        if (!watched_unit(p->state)->unseen[number])
            write_code_row(&p->state->tail, number, f, f == 0 && is_main);
        if (rows->count)
            buffer_text(&p->state->tail, rows->data);
        buffer_release(rows);
    }
    watched_unit(p->state)->watched = true;
}

/* Writes only changes: adjacent code out of line mostly has the same rules. */
void enter_frame(struct planner *p, const struct frame_row *frame) {
    struct frame_row *before = &watched_function(p)->out_of_line;
    if (!before->known && frame->known)
        write_frame(&p->far_stubs, frame, 0);
    else if (frame->known &&
             (frame->offset != before->offset || strcmp(frame->base, before->base) != 0))
        write_frame_change(&p->far_stubs, frame);
    if (frame->known)
        *before = *frame;
}

void end_out_of_line(struct planner *p) {
    struct frame_row *before = &watched_function(p)->out_of_line;
    write_frame_end(&p->far_stubs, before);
    before->known = false;
}
