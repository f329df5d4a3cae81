/* entries.c: finds the functions that must test whether the thread has cells.
 *
 * In executables the base of %gs leads to the cells. A function tests at its entry, since it may be
 * the first one that a new thread runs. A function needs no test if only functions of the same unit
 * can enter it: they have tested. Such a function is local, and its address is not taken. All
 * direct calls of it and jumps to it are in compiled functions that test, or that need no test
 * themselves. A system call may return in a new thread, so functions that make one themselves are
 * not trusted.
 *
 * requires: measure_unit    makes: pass_state.internal
 * Not perfect: whether a function can test, and whether it is left alone, is known only when it is
 * instrumented. If one cannot, instrument.c instruments the unit again, with a test in every
 * function. */
#include "pass/pass.h"

#include "x86/measure.h"

/* Returns, by function, whether callees can rely on its test: quipu instruments it, and it makes no
 * system call itself, so the thread stays the same. */
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

/* Whether only code of this unit that names the function can enter it. */
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
