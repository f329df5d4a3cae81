/* handlers.c: which functions note that the kernel has called them as signal handlers.
 *
 * A handler counts its own events, so the count at the instruction that it interrupted can be told
 * later only if the cells were kept when it began (runtime/event/event.c).  Which functions are
 * handlers is known to the program alone; so those ask that mention the query, and where the unit
 * deals with signals, all whose address is taken.  To ask is cheap: the third argument of a handler
 * stands right above its return address, and hardly anybody else's does.
 *
 * requires: find_functions    makes: handlers
 * Not perfect: a handler of a file that neither asks nor deals with signals is not noted; then a
 * function that it calls is told that nothing is known. */
#include "pass/event/event.h"

#include "pass/plan.h"

#include <string.h>

static bool has_text(const struct unit *unit, uint32_t start, uint32_t end, const char *text) {
    return memmem(unit->text + start, end - start, text, strlen(text)) != NULL;
}

static bool deals_with_signals(const struct unit *unit) {
    static const char *const names[] = {"sigaction", "signal", "sigset"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_text(unit, 0, (uint32_t)unit->size, names[i]))
            return true;
    return false;
}

static bool asks(const struct unit *unit, const struct asm_function *function) {
    for (size_t f = 0; f < function->fragments.count; f++) {
        const struct fragment *fragment = &function->fragments.data[f];
        const uint32_t *statements = unit->sections.data[fragment->section].statements.data;
        for (uint32_t i = fragment->first; i < fragment->last; i++) {
            const struct statement *s = &unit->statements.data[statements[i]];
            if (has_text(unit, s->start, s->end, "quipu_runtime_events_at"))
                return true;
        }
    }
    return false;
}

void find_handlers(struct pass_state *state) {
    const struct unit *unit = state->unit;
    bool *handlers = ARENA_ARRAY(&state->unit->arena, bool, unit->functions.count);
    bool signals = deals_with_signals(unit);
    for (size_t i = 0; i < unit->functions.count; i++) {
        const struct asm_function *function = &unit->functions.data[i];
        const struct symbol *symbol = &unit->symbols.data[function->symbol];
        handlers[i] =
            function->compiled && ((signals && symbol->address_taken) || asks(unit, function));
    }
    event_unit(state)->handlers = handlers;
}

/* A function that may be a signal handler tells the runtime if it is one. */
void insert_handler_code(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[0];
    uint32_t top = p->blocks[0].top;
    if (index != 0 || !event_unit(p->state)->handlers[p->context.cells] ||
        (!block->padding && top >= block->count) || !is_at_entry(graph, 0, top))
        return;
    const struct graph_instruction *first = &graph->instructions.data[block->first];
    struct buffer text = {0};
    struct frame_row frame =
        block->padding ? frame_before_padding(p, block) : frame_at(p, &first[top]);
    anchor_code(p, &text, block->fragment, sums_in_block(p, 0, top, false));
    write_signal_check(&text, &p->context, &frame);
    if (block->padding) {
        insert_before_padding(p, block, &text);
    } else {
        split_block(p, 0, top);
        insert_at(p, &first[top], &text);
    }
}
