/* init.c: code of shared objects that may run before their constructors: the section .init; a
 * function named _init if the compiler's start files are not linked; and functions that take the
 * place of the C library's, such as an allocator's malloc, which constructors of other objects
 * call.
 *
 * Such code has checks, or calls code with checks, which reads the fixed area of watched memory.
 * The runtime normally makes that page in the first constructor. So a call that makes it is
 * inserted before the first instruction. Executables make it earlier, from .preinit_array.
 *
 * requires: no edits yet at these instructions: checks must be behind the call
 * maintains: all registers and flags; at functions, no flags   breaks: nothing
 *
 * Not perfect: a function with another name that is given to the linker (-init), or that another
 * object calls before the constructors, is not recognized. */
#include "pass/watch/watch.h"

#include "asm/lex.h"
#include "x86/coded.h"
#include "x86/store_check.h"

#include <string.h>

/* Inserts the call before instruction number INDEX of the section, but behind the mark at which
 * indirect branches land. */
static void start_at(struct pass_state *state, const struct section *section, size_t index) {
    const struct unit *unit = state->unit;
    const struct statement *first = &unit->statements.data[section->statements.data[index]];
    if (is_written_landing_mark(unit, first))
        insert_behind(&state->edits, first, WATCH_INIT_CALL);
    else
        insert_before(&state->edits, first, WATCH_INIT_CALL);
    watched_unit(state)->starts_early = true;
}

static bool is_init(const struct unit *unit, const struct statement *label) {
    if (label->kind != STATEMENT_LABEL)
        return false;
    const struct symbol *symbol = &unit->symbols.data[label->symbol];
    return span_is((struct span){symbol->name, symbol->length}, "_init");
}

void start_before_init(struct pass_state *state) {
    const struct unit *unit = state->unit;
    for (size_t i = 0; i < unit->sections.count; i++) {
        const struct section *section = &unit->sections.data[i];
        bool runs = strcmp(section->name, ".init") == 0;
        for (size_t n = 0; n < section->statements.count; n++) {
            const struct statement *statement = &unit->statements.data[section->statements.data[n]];
            runs |= is_init(unit, statement);
            if (!runs || statement->kind != STATEMENT_INSTRUCTION)
                continue;
            start_at(state, section, n);
            runs = false;
        }
    }
}

/* ---- functions that take the place of the C library's ---- */

void find_interposed(struct pass_state *state) {
    struct unit *unit = state->unit;
    bool *interposed = ARENA_ARRAY(&unit->arena, bool, unit->functions.count + 1);
    watched_unit(state)->interposed = interposed;
    for (uint32_t i = 0; i < unit->symbols.count; i++) {
        const struct symbol *symbol = &unit->symbols.data[i];
        struct span name = {symbol->name, symbol->length};
        uint32_t label = symbol->global || symbol->weak ? find_label(unit, i) : NONE;
        uint32_t function = label == NONE ? NONE : unit->function_of[label];
        if (function != NONE && is_library_name(name))
            interposed[function] = true;
    }
}

void insert_early_start(struct planner *p, uint32_t index) {
    const struct graph *graph = p->graph;
    const struct basic_block *block = &graph->blocks.data[index];
    struct watched_unit *watched = watched_unit(p->state);
    if (index || !watched->interposed || !block->count ||
        !enters_by(graph, block, QUIPU_EDGE_ENTRY))
        return;
    const struct unit *unit = p->state->unit;
    uint32_t function = unit->function_of[graph->instructions.data[block->first].first_statement];
    if (function == NONE || !watched->interposed[function] ||
        !unit->functions.data[function].compiled)
        return;
    struct buffer text = {0};
    buffer_text(&text, WATCH_EARLY_CALL);
    watched->has_interposed = true;
    insert_on_entry(p, index, &text);
}
