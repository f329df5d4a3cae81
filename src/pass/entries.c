/* entries.c: which functions must ask whether the thread has cells.
 *
 * Where %gs leads to the cells, a function asks at its entry, for it may be the first one that a
 * new thread runs.  One that nobody but functions of the same unit can enter need not: whoever
 * enters it has asked.  Such a function is local, its address is nowhere taken, and all direct
 * calls of it and jumps to it stand in compiled functions that ask (or that need not ask
 * themselves).  A system call may come back in a new thread, so code that makes one by itself is
 * not trusted.
 *
 * requires: measure_unit    makes: pass_state.internal
 * Not perfect: whether a function can ask, and whether it is left alone, comes out only when it is
 * instrumented.  instrument.c then begins the unit anew, with every function asking. */
#include "pass/pass.h"

#include "x86/measure.h"

/* By function: it asks, and whatever it calls runs in the same thread. */
static bool *find_trusted(const struct pass_state *state) {
    struct unit *unit = state->unit;
    bool *trusted = ARENA_ARRAY(&unit->arena, bool, unit->functions.count);
    for (uint32_t i = 0; i < unit->functions.count; i++)
        trusted[i] = unit->functions.data[i].compiled && !unit->functions.data[i].left_alone;
    for (uint32_t s = 0; s < unit->statements.count; s++) {
        uint32_t function = unit->function_of[s];
        if (function != NONE && trusted[function] &&
            unit->statements.data[s].kind == STATEMENT_INSTRUCTION &&
            unit->code->decoded[s].class == CLASS_SYSTEM)
            trusted[function] = false;
    }
    return trusted;
}

/* Whether no name of the function is known where we cannot see. */
static bool is_hidden(const struct unit *unit, const struct asm_function *function) {
    const struct symbol *symbol = &unit->symbols.data[function->symbol];
    return function->compiled && !function->left_alone && !symbol->global && !symbol->weak &&
           !symbol->indirect && !symbol->aliased && !symbol->address_taken;
}

void find_internal(struct pass_state *state) {
    struct unit *unit = state->unit;
    state->internal = ARENA_ARRAY(&unit->arena, bool, unit->functions.count);
    if (state->options->shared || !unit->compiled || unit->has_macros)
        return;
    bool *trusted = find_trusted(state);
    uint32_t *function_at = ARENA_ARRAY(&unit->arena, uint32_t, unit->symbols.count);
    for (size_t i = 0; i < unit->symbols.count; i++)
        function_at[i] = NONE;
    for (uint32_t i = 0; i < unit->functions.count; i++) {
        function_at[unit->functions.data[i].symbol] = i;
        state->internal[i] = is_hidden(unit, &unit->functions.data[i]);
    }
    for (uint32_t s = 0; s < unit->statements.count; s++) {
        const struct statement *statement = &unit->statements.data[s];
        if (statement->kind != STATEMENT_INSTRUCTION || statement->symbol == NONE ||
            function_at[statement->symbol] == NONE)
            continue;
        uint32_t from = unit->function_of[s];
        if (from == NONE || !trusted[from] || statement->inline_asm || statement->opaque)
            state->internal[function_at[statement->symbol]] = false;
    }
}
