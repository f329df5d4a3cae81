/* unseen.c: calls behind which nothing is compared.
 *
 * Behind calls in compiled code the runtime finds what code without checks has written (calls.c).
 * Hand-written code and inline assembly have no queries around their calls; nor have conditional
 * jumps to other functions, which compilers make of calls. A function with such calls of unknown
 * code is treated like that code: its rows do not say that it has checks, so all is compared behind
 * calls of it. So is a function that calls it in such a way.
 *
 * requires: find_functions, measure_unit    makes: watched_unit.unseen
 * Not perfect: an indirect jump of compiled code in a function with a table of jumps is taken for
 * one of the table. */
#include "pass/watch/watch.h"

#include "x86/measure.h"

#include <string.h>

/* A call, without a query, of a function that otherwise has checks. */
struct inner_call {
    uint32_t from, to; /* functions */
};

typedef VECTOR(struct inner_call) inner_calls;

uint32_t find_label(const struct unit *unit, uint32_t symbol) {
    const struct symbol *found = &unit->symbols.data[symbol];
    for (size_t i = 0; found->statement == NONE && found->aliased && i < unit->assignments.count;
         i++)
        if (unit->assignments.data[i].name == symbol)
            return unit->symbols.data[unit->assignments.data[i].value].statement;
    return found->statement;
}

/* The linker may replace a weak function by another unit's, and the loader one that is called
 * through a linkage table (@PLT) by another module's. */
bool enters_checks(const struct pass_state *state, const struct statement *s, uint32_t label) {
    const struct unit *unit = state->unit;
    const struct symbol *symbol = &unit->symbols.data[s->symbol];
    uint32_t function = unit->function_of[label];
    bool by_table = memchr(unit->text + s->start, '@', s->end - s->start) != NULL;
    return !symbol->weak && !(symbol->global && by_table) && function != NONE &&
           !unit->functions.data[function].left_alone && !watched_unit(state)->unseen[function];
}

static bool is_direct(enum instruction_class class) {
    return class == CLASS_CALL || class == CLASS_JUMP || class == CLASS_CONDITIONAL ||
           class == CLASS_CONDITIONAL_NEAR;
}

static bool is_conditional(enum instruction_class class) {
    return class == CLASS_CONDITIONAL || class == CLASS_CONDITIONAL_NEAR;
}

/* Looks at the direct call or jump S of FUNCTION, which has no query. */
static void look_at_target(struct pass_state *state, const struct statement *s, uint32_t function,
                           inner_calls *calls) {
    const struct unit *unit = state->unit;
    uint32_t label = s->symbol == NONE ? NONE : find_label(unit, s->symbol);
    if (label != NONE && unit->function_of[label] == function)
        return;
    if (label == NONE || !enters_checks(state, s, label))
        watched_unit(state)->unseen[function] = true;
    else
        vector_push(&state->unit->arena, calls,
                    ((struct inner_call){function, unit->function_of[label]}));
}

void find_unseen_calls(struct pass_state *state) {
    struct unit *unit = state->unit;
    bool *unseen = ARENA_ARRAY(&unit->arena, bool, unit->functions.count + 1);
    inner_calls calls = {0};
    watched_unit(state)->unseen = unseen;
    for (uint32_t i = 0; i < unit->statements.count; i++) {
        const struct statement *s = &unit->statements.data[i];
        uint32_t function = unit->function_of[i];
        if (function == NONE || s->kind != STATEMENT_INSTRUCTION)
            continue;
        enum instruction_class class = unit->code->decoded[i].class;
        bool has_query = unit->functions.data[function].compiled && !s->inline_asm;
        if (is_direct(class) && (!has_query || is_conditional(class)))
            look_at_target(state, s, function, &calls);
        else if (!has_query && (class == CLASS_CALL_INDIRECT || class == CLASS_JUMP_INDIRECT))
            unseen[function] = true;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < calls.count; i++) {
            changed |= unseen[calls.data[i].to] && !unseen[calls.data[i].from];
            unseen[calls.data[i].from] |= unseen[calls.data[i].to];
        }
    }
}
