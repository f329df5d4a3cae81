/* computed_jumps.c: jumps to addresses that a person's code computes; see computed_jumps.h.
 *
 *     lea 0f(%rip), %rdx; lea (%rdx,%rdi,8), %rdx; jmp *%rdx      # entries eight bytes apart
 *
 * What is inserted moves such entries.  So the value that an indirect jump or call takes from a
 * register, or a return from what was pushed right in front of it, is followed up through the text:
 *
 *   a label, as it is; what memory held; what the function was given        understood
 *   a distance that memory held, added to an address that is no code's      understood: a table's
 *   all else that is computed                                               left alone
 *
 * The nearest writer above in the text is taken for the one whose value it is.  Where it is not,
 * since control comes another way, one thing more is asked of a function with such a jump: that it
 * computes nothing out of the address of an instruction.
 *
 * Not perfect: an address that one function computes and another one jumps to.
 *
 * requires: leave_distances, measure_unit   makes: asm_function.left_alone */
#include "flow/computed_jumps.h"

#include "asm/distances.h"
#include "x86/measure.h"

enum {
    STEPS_MAX = 16 /* of one value through others; behind that it counts as computed */
};

enum value {
    VALUE_GIVEN,    /* to the function, by a callee, or as a number */
    VALUE_LOADED,   /* from memory */
    VALUE_DATA,     /* the address of what is no instruction */
    VALUE_CODE,     /* the address of an instruction */
    VALUE_COMPUTED, /* out of others */
};

struct finder {
    struct unit *unit;
    uint32_t *label_of; /* by statement: the symbol whose address an instruction takes, or NONE */
    const struct fragment *fragment;
};

static const char reason[] = "a jump goes to an address that it computes";

static uint32_t statement_at(const struct finder *f, uint32_t position) {
    return f->unit->sections.data[f->fragment->section].statements.data[position];
}

/* The instruction at POSITION of the section, or NULL where there is none that a person wrote. */
static const struct decoded *instruction_at(const struct finder *f, uint32_t position) {
    uint32_t index = statement_at(f, position);
    const struct statement *s = &f->unit->statements.data[index];
    if (s->kind != STATEMENT_INSTRUCTION || !is_hand_written(f->unit, s))
        return NULL;
    return &f->unit->code->decoded[index];
}

static enum value address_value(const struct finder *f, uint32_t position) {
    uint32_t symbol = f->label_of[statement_at(f, position)];
    if (symbol == NONE)
        return VALUE_GIVEN;
    return leads_to_code(f->unit, &f->unit->symbols.data[symbol]) ? VALUE_CODE : VALUE_DATA;
}

static enum value value_in(const struct finder *f, uint32_t position, unsigned reg, unsigned steps);

/* What the instruction at POSITION leaves in REG. */
static enum value value_of(const struct finder *f, uint32_t position, unsigned reg,
                           unsigned steps) {
    const struct decoded *decoded = instruction_at(f, position);
    const struct linear *linear = &decoded->linear;
    if (decoded->address_to >> reg & 1)
        return address_value(f, position);
    if (decoded->memory.loads)
        return VALUE_LOADED;
    if (linear->kind == LINEAR_COPY && linear->reg == reg)
        return value_in(f, position, linear->other, steps);
    if (linear->kind != LINEAR_ADD || linear->reg != reg || linear->other == NO_REGISTER)
        return VALUE_COMPUTED;
    enum value a = value_in(f, position, reg, steps);
    enum value b = value_in(f, position, linear->other, steps);
    bool of_table =
        (a == VALUE_LOADED && b <= VALUE_DATA) || (b == VALUE_LOADED && a <= VALUE_DATA);
    return of_table ? VALUE_LOADED : VALUE_COMPUTED;
}

/* What REG holds in front of POSITION. */
static enum value value_in(const struct finder *f, uint32_t position, unsigned reg,
                           unsigned steps) {
    if (steps >= STEPS_MAX)
        return VALUE_COMPUTED;
    while (position-- > f->fragment->first) {
        const struct decoded *decoded = instruction_at(f, position);
        const struct statement *s = &f->unit->statements.data[statement_at(f, position)];
        if (!decoded && s->kind != STATEMENT_INSTRUCTION)
            continue;
        if (!decoded || (is_call_class(decoded->class) && REGISTER_RAX >> reg & 1))
            return VALUE_GIVEN;
        if (decoded->registers_written >> reg & 1)
            return value_of(f, position, reg, steps + 1);
    }
    return VALUE_GIVEN;
}

static unsigned lowest(uint16_t registers) {
    unsigned reg = 0;
    while (!(registers >> reg & 1))
        reg++;
    return reg;
}

/* Sets POSITION and REG to where the jump at *POSITION has its address from; returns false where it
 * is no jump by a register. */
static bool find_jump(const struct finder *f, uint32_t *position, unsigned *reg) {
    const struct decoded *decoded = instruction_at(f, *position);
    if (!decoded)
        return false;
    uint16_t registers = decoded->registers_read & ~REGISTER_RSP;
    if (decoded->class == CLASS_RETURN && *position > f->fragment->first) {
        decoded = instruction_at(f, --*position);
        if (!decoded || decoded->memory.stores != 1 || decoded->memory.loads ||
            !(decoded->registers_written & REGISTER_RSP))
            return false; /* no push */
        registers = decoded->registers_read & ~REGISTER_RSP;
    } else if (decoded->class != CLASS_JUMP_INDIRECT && decoded->class != CLASS_CALL_INDIRECT) {
        return false;
    }
    bool one = registers && !(registers & (registers - 1)) && !decoded->memory.loads;
    *reg = one ? lowest(registers) : 0;
    return one;
}

/* Whether the instruction at POSITION computes with the address of an instruction. */
static bool computes_with_code(const struct finder *f, uint32_t position) {
    const struct decoded *decoded = instruction_at(f, position);
    if (!decoded || decoded->class != CLASS_PLAIN || decoded->memory.loads ||
        decoded->memory.stores || decoded->address_to || decoded->linear.kind == LINEAR_COPY ||
        decoded->linear.kind == LINEAR_COMPARE || !decoded->registers_written)
        return false;
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (decoded->registers_read >> reg & 1 && value_in(f, position, reg, 0) == VALUE_CODE)
            return true;
    return false;
}

/* Leaves alone the function, and all whose instructions it takes the addresses of. */
static void leave(const struct finder *f, struct asm_function *function) {
    struct unit *unit = f->unit;
    if (!function->left_alone)
        function->left_alone = reason;
    for (uint32_t i = f->fragment->first; i < f->fragment->last; i++) {
        uint32_t symbol = f->label_of[statement_at(f, i)];
        uint32_t label = symbol == NONE ? NONE : unit->symbols.data[symbol].statement;
        uint32_t other = label == NONE ? NONE : unit->function_of[label];
        if (other != NONE && leads_to_code(unit, &unit->symbols.data[symbol]) &&
            !unit->symbols.data[symbol].function && !unit->functions.data[other].left_alone)
            unit->functions.data[other].left_alone = reason;
    }
}

/* Whether the fragment has a jump that is not understood. */
static bool is_computed(const struct finder *f) {
    bool jumps = false, computes = false;
    for (uint32_t i = f->fragment->first; i < f->fragment->last; i++) {
        uint32_t position = i;
        unsigned reg;
        if (!find_jump(f, &position, &reg))
            continue;
        jumps = true;
        if (value_in(f, position, reg, 0) == VALUE_COMPUTED)
            return true;
    }
    for (uint32_t i = f->fragment->first; jumps && !computes && i < f->fragment->last; i++)
        computes = computes_with_code(f, i);
    return computes;
}

static void find_labels(struct finder *f) {
    const struct unit *unit = f->unit;
    f->label_of = ARENA_ARRAY(&f->unit->arena, uint32_t, unit->statements.count);
    for (size_t i = 0; i < unit->statements.count; i++)
        f->label_of[i] = NONE;
    for (size_t i = 0; i < unit->references.count; i++) {
        const struct reference *reference = &unit->references.data[i];
        if (unit->statements.data[reference->statement].kind == STATEMENT_INSTRUCTION)
            f->label_of[reference->statement] = reference->symbol;
    }
}

void leave_computed_jumps(struct unit *unit) {
    struct finder f = {.unit = unit};
    if (!has_hand_written(unit))
        return;
    find_labels(&f);
    for (size_t i = 0; i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        for (size_t n = 0; n < function->fragments.count; n++) {
            f.fragment = &function->fragments.data[n];
            if (is_computed(&f))
                leave(&f, function);
        }
    }
}
