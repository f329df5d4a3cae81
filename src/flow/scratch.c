/* scratch.c: finds the functions that may change the linker's scratch register, and the callers
 * that may keep a value in it.
 *
 * The ABI leaves %r11 to the code that linkers insert between a call and its target. So it holds no
 * value across calls of functions in other units. But with -fipa-ra, gcc keeps values in it across
 * calls of functions in the same unit, if they do not change it and call no function that may. This
 * file finds the same functions as gcc. One of them keeps %r11 if a function that has values there
 * reaches it through such functions only.
 *
 * requires: measure_unit   makes: keeps_scratch of functions
 * Not perfect: hand-written code, and all code with -mcmodel=large, may keep a value in %r11
 * anywhere. In such units gcc knows the callees of indirect calls, and quipu does not. */
#include "flow/graph.h"
#include "x86/measure.h"

#include <ctype.h>
#include <string.h>

struct call {
    uint32_t from, to; /* functions of the unit */
};

typedef VECTOR(struct call) call_list;

static bool writes_scratch(const struct decoded *decoded) {
    bool pops = decoded->load_count && (decoded->registers_written & REGISTER_RSP);
    return (decoded->registers_written & REGISTER_R11) && !pops; /* a pop restores it */
}

/* Whether the instruction loads a 64-bit address: the code is for the large code model. */
static bool loads_wide_address(const struct unit *unit, uint32_t index) {
    const struct statement *s = &unit->statements.data[index];
    if (!unit->code->decoded[index].spelling.wide)
        return false;
    const char *dollar = memchr(unit->text + s->start, '$', s->end - s->start);
    return dollar && !isdigit((unsigned char)dollar[1]) && dollar[1] != '-';
}

/* Returns the function of the unit that the statement leads to, or NONE. */
static uint32_t find_callee(const struct unit *unit, const struct statement *s) {
    if (s->symbol == NONE || unit->symbols.data[s->symbol].statement == NONE)
        return NONE;
    return unit->function_of[unit->symbols.data[s->symbol].statement];
}

/* Whether the statement names a symbol of another unit. */
static bool is_foreign(const struct unit *unit, const struct statement *s) {
    if (s->symbol == NONE)
        return false;
    const struct symbol *symbol = &unit->symbols.data[s->symbol];
    return symbol->statement == NONE && !symbol->aliased && !symbol->local;
}

bool loses_scratch(const struct unit *unit, const struct decoded *decoded, uint32_t index) {
    const struct statement *s = &unit->statements.data[index];
    bool direct = decoded->class == CLASS_CALL || decoded->class == CLASS_JUMP ||
                  decoded->class == CLASS_CONDITIONAL;
    uint32_t callee = find_callee(unit, s);
    if (s->inline_asm || !(direct || decoded->class == CLASS_CALL_INDIRECT))
        return false;
    if (callee != NONE)
        return !unit->functions.data[callee].keeps_scratch;
    return (direct ? is_foreign(unit, s) : !unit->keeps_scratch) &&
           !has_own_convention(unit, index);
}

/* What the text of each function states, by function. */
struct scratch_use {
    bool *clobbers; /* it changes the register, or calls a function that may; gcc takes this into
                       account in its callers */
    bool *has;      /* it may keep values in the register */
    call_list calls;
};

static void read_statement(struct unit *unit, uint32_t index, struct scratch_use *use) {
    const struct statement *s = &unit->statements.data[index];
    const struct decoded *decoded = &unit->code->decoded[index];
    uint32_t from = unit->function_of[index], to = find_callee(unit, s);
    bool known = from != NONE && unit->functions.data[from].compiled &&
                 !unit->functions.data[from].left_alone && !s->inline_asm && !s->opaque;
    if (to != NONE && to != from) {
        if (!known)
            unit->functions.data[to].keeps_scratch = true;
        else
            vector_push(&unit->arena, &use->calls, ((struct call){from, to}));
    }
    if (!known) {
        if (from != NONE)
            use->has[from] = true;
        return;
    }
    bool leaves = decoded->class == CLASS_CALL || decoded->class == CLASS_JUMP;
    use->clobbers[from] |= writes_scratch(decoded) || decoded->class == CLASS_CALL_INDIRECT ||
                           (leaves && is_foreign(unit, s) && !has_own_convention(unit, index));
    use->has[from] |= (decoded->registers_written & REGISTER_R11) != 0;
    unit->keeps_scratch |= loads_wide_address(unit, index);
}

/* A function clobbers the register if a function that it calls does. Most callees are in front of
 * their callers. */
static void spread_to_callers(struct scratch_use *use) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < use->calls.count; i++) {
            struct call call = use->calls.data[i];
            changed |= use->clobbers[call.to] && !use->clobbers[call.from];
            use->clobbers[call.from] |= use->clobbers[call.to];
        }
    }
}

static void spread_to_callees(struct unit *unit, const struct scratch_use *use) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = use->calls.count; i-- > 0;) {
            struct call call = use->calls.data[i];
            bool relied_on = use->has[call.from] || unit->functions.data[call.from].keeps_scratch;
            bool *keeps = &unit->functions.data[call.to].keeps_scratch;
            if (relied_on && !*keeps && !use->clobbers[call.to])
                changed = *keeps = true;
        }
    }
}

void find_scratch_keepers(struct unit *unit) {
    struct scratch_use use = {.clobbers = ARENA_ARRAY(&unit->arena, bool, unit->functions.count),
                              .has = ARENA_ARRAY(&unit->arena, bool, unit->functions.count)};
    for (uint32_t s = 0; s < unit->statements.count; s++)
        if (unit->statements.data[s].kind == STATEMENT_INSTRUCTION)
            read_statement(unit, s, &use);
    unit->keeps_scratch |= !unit->compiled || unit->has_macros;
    spread_to_callers(&use);
    spread_to_callees(unit, &use);
    for (size_t i = 0; i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        function->keeps_scratch |=
            unit->keeps_scratch || !function->compiled || function->left_alone;
    }
}
