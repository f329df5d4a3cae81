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
 * Code whose address is computed, by whatever function, is left alone, as it may be jumped to
 * elsewhere; so is code behind a jump that has no label.  And so is code that is read or written
 * through its address: patched, or copied.
 *
 * Not perfect: what other units do with the addresses of labels.
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
    uint32_t code; /* the last symbol that VALUE_CODE was the address of */
};

static const char jump_reason[] = "a jump goes to an address that it computes";
static const char address_reason[] = "an address in it is computed";
static const char bytes_reason[] = "its instructions are read or written as data";
static const char unnamed_reason[] = "code without a label stands behind a jump";

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

static enum value address_value(struct finder *f, uint32_t position) {
    uint32_t symbol = f->label_of[statement_at(f, position)];
    if (symbol == NONE)
        return VALUE_GIVEN;
    if (!leads_to_code(f->unit, &f->unit->symbols.data[symbol]))
        return VALUE_DATA;
    f->code = symbol;
    return VALUE_CODE;
}

static enum value value_in(struct finder *f, uint32_t position, unsigned reg, unsigned steps);

static unsigned lowest(uint16_t registers) {
    unsigned reg = 0;
    while (!(registers >> reg & 1))
        reg++;
    return reg;
}

/* What a conditional move of registers leaves in REG, by what is worse. */
static enum value selected_value(struct finder *f, uint32_t position, unsigned reg,
                                 unsigned steps) {
    const struct decoded *decoded = instruction_at(f, position);
    uint16_t others = decoded->registers_read & ~(1u << reg);
    enum value kept = value_in(f, position, reg, steps);
    enum value moved = others ? value_in(f, position, lowest(others), steps) : kept;
    return kept > moved ? kept : moved;
}

/* What the instruction at POSITION leaves in REG. */
static enum value value_of(struct finder *f, uint32_t position, unsigned reg, unsigned steps) {
    const struct decoded *decoded = instruction_at(f, position);
    const struct linear *linear = &decoded->linear;
    if (decoded->address_to >> reg & 1)
        return address_value(f, position);
    if (decoded->memory.loads)
        return VALUE_LOADED;
    if (decoded->selects)
        return selected_value(f, position, reg, steps);
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
static enum value value_in(struct finder *f, uint32_t position, unsigned reg, unsigned steps) {
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

/* ---- what is left alone ---- */

static void leave(struct asm_function *function, const char *why) {
    if (!function->left_alone)
        function->left_alone = why;
}

/* Leaves alone what the symbol stands in. */
static void leave_symbol(const struct finder *f, uint32_t symbol, const char *why) {
    uint32_t label = f->unit->symbols.data[symbol].statement;
    uint32_t function = label == NONE ? NONE : f->unit->function_of[label];
    if (function != NONE)
        leave(&f->unit->functions.data[function], why);
}

/* Leaves alone all whose instructions the fragment takes the addresses of. */
static void leave_labels(const struct finder *f) {
    for (uint32_t i = f->fragment->first; i < f->fragment->last; i++) {
        uint32_t symbol = f->label_of[statement_at(f, i)];
        if (symbol != NONE && leads_to_code(f->unit, &f->unit->symbols.data[symbol]) &&
            !f->unit->symbols.data[symbol].function)
            leave_symbol(f, symbol, jump_reason);
    }
}

/* Whether one of the registers holds the address of an instruction at POSITION, that of f->code. */
static bool holds_code(struct finder *f, uint32_t position, uint16_t registers) {
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (registers >> reg & 1 && value_in(f, position, reg, 0) == VALUE_CODE)
            return true;
    return false;
}

static bool computes(const struct decoded *decoded) {
    return decoded->class == CLASS_PLAIN && !decoded->memory.loads && !decoded->memory.stores &&
           !decoded->address_to && !decoded->selects && decoded->linear.kind != LINEAR_COPY &&
           decoded->linear.kind != LINEAR_COMPARE && decoded->registers_killed;
}

/* What the instruction at POSITION does with the address of another one. */
static void check_addresses(struct finder *f, uint32_t position, bool jumps,
                            struct asm_function *function) {
    const struct decoded *decoded = instruction_at(f, position);
    if (decoded && decoded->addressing && holds_code(f, position, decoded->addressing))
        leave_symbol(f, f->code, bytes_reason);
    if (!decoded || !computes(decoded) || !holds_code(f, position, decoded->registers_read))
        return;
    if (jumps) {
        leave(function, jump_reason);
        leave_labels(f);
    }
    leave_symbol(f, f->code, address_reason);
}

/* Whether control never goes on behind the instruction.  A trap's handler may have it do so. */
static bool stops_way(const struct decoded *decoded) {
    return decoded->class == CLASS_JUMP || decoded->class == CLASS_JUMP_INDIRECT ||
           decoded->class == CLASS_RETURN;
}

/* Code behind a jump that has no label is gone to by an address that is told otherwise, but for
 * what fills gaps, and stops a processor that runs ahead. */
static bool has_unnamed_code(const struct finder *f) {
    bool stopped = false;
    for (uint32_t i = f->fragment->first; i < f->fragment->last; i++) {
        const struct statement *s = &f->unit->statements.data[statement_at(f, i)];
        const struct decoded *decoded = instruction_at(f, i);
        if (s->kind == STATEMENT_LABEL || (s->kind == STATEMENT_INSTRUCTION && !decoded))
            stopped = false;
        if (!decoded || s->prefix || is_filling(decoded))
            continue;
        if (stopped)
            return true;
        stopped = stops_way(decoded);
    }
    return false;
}

static void check_fragment(struct finder *f, struct asm_function *function) {
    bool jumps = false;
    for (uint32_t i = f->fragment->first; i < f->fragment->last; i++) {
        uint32_t position = i;
        unsigned reg;
        if (!find_jump(f, &position, &reg))
            continue;
        jumps = true;
        if (value_in(f, position, reg, 0) != VALUE_COMPUTED)
            continue;
        leave(function, jump_reason);
        leave_labels(f);
    }
    for (uint32_t i = f->fragment->first; i < f->fragment->last; i++)
        check_addresses(f, i, jumps, function);
    if (has_unnamed_code(f))
        leave(function, unnamed_reason);
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
            check_fragment(&f, function);
        }
    }
}
