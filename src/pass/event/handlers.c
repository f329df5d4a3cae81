/* handlers.c: functions that report to the runtime if the kernel has called them as signal
 * handlers.
 *
 * A handler counts its own events. So the count at the interrupted instruction is known later only
 * if the cells were saved when the handler began (runtime/event/event.c). Only the program knows
 * which functions are handlers. So two sorts of functions test whether they are one: those that
 * mention the query; and, in units that mention a function that sets handlers, those whose address
 * is taken. The test is cheap: the third argument of a handler points directly above its return
 * address. In other functions that is hardly ever so.
 *
 * requires: find_functions    makes: handlers
 * Not perfect: a handler is not recognized if it does not query and its unit sets no handlers. A
 * query from a function that it calls then returns that nothing is known. */
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

/* Whether there is a position that runs once for each call, before anything is stored. */
static bool has_position(const struct planner *p) {
    const struct graph *graph = p->graph;
    uint32_t top = p->blocks[0].top;
    return (graph->blocks.data[0].padding || top < graph->blocks.data[0].count) &&
           (is_at_entry(graph, 0, top) || (top == 0 && has_entry_position(graph, 0)));
}

/* Inserts the test at the begin of a function that may be a signal handler. If it is one, the test
 * calls the runtime. */
void insert_handler_code(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[0];
    if (index != 0 || !event_unit(p->state)->handlers[p->context.cells] || !has_position(p))
        return;
    uint32_t top = p->blocks[0].top;
    struct buffer text = {0};
    struct frame_row frame = block->padding
                                 ? frame_before_padding(p, block)
                                 : frame_at(p, &graph->instructions.data[block->first + top]);
    anchor_code(p, &text, block->fragment, sums_in_block(p, 0, top, false));
    write_signal_check(&text, &p->context, &frame);
    insert_on_entry(p, 0, &text);
}
