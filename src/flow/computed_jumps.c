/* computed_jumps.c: jumps to addresses that a person's code computes; see computed_jumps.h.
 *
 *     lea 0f(%rip), %rdx; lea (%rdx,%rdi,8), %rdx; jmp *%rdx      # entries eight bytes apart
 *
 * What is inserted moves such entries.  So the value that an indirect jump or call takes from a
 * register, or a return from what was pushed right in front of it, is followed through the text:
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
    enum value value[GENERAL_REGISTERS]; /* that the registers hold in front of an instruction */
    uint32_t code[GENERAL_REGISTERS];    /* the symbol whose address a VALUE_CODE is */
};

static const char jump_reason[] = "a jump goes to an address that it computes";
static const char address_reason[] = "an address in it is computed";
static const char bytes_reason[] = "its instructions are read or written as data";
static const char unnamed_reason[] = "code without a label stands behind a jump";

static uint32_t statement_at(const struct finder *f, uint32_t position) {
    return f->unit->sections.data[f->fragment->section].statements.data[position];
}

static const struct decoded *instruction_at(const struct finder *f, uint32_t position) {
    return hand_written_at(f->unit, f->fragment, position);
}

static unsigned lowest(uint16_t registers) {
    unsigned reg = 0;
    while (!(registers >> reg & 1))
        reg++;
    return reg;
}

static enum value added(enum value a, enum value b) {
    bool of_table =
        (a == VALUE_LOADED && b <= VALUE_DATA) || (b == VALUE_LOADED && a <= VALUE_DATA);
    return of_table ? VALUE_LOADED : VALUE_COMPUTED;
}

/* What the instruction at POSITION leaves in REG; *CODE becomes the symbol of a VALUE_CODE. */
static enum value value_of(const struct finder *f, uint32_t position, unsigned reg,
                           uint32_t *code) {
    const struct decoded *decoded = instruction_at(f, position);
    const struct linear *linear = &decoded->linear;
    uint16_t others = decoded->registers_read & ~(1u << reg);
    if (decoded->address_to >> reg & 1) {
        *code = f->label_of[statement_at(f, position)];
        if (*code == NONE)
            return VALUE_GIVEN;
        return leads_to_code(f->unit, &f->unit->symbols.data[*code]) ? VALUE_CODE : VALUE_DATA;
    }
    if (decoded->memory.loads)
        return VALUE_LOADED;
    bool copies = linear->kind == LINEAR_COPY && linear->reg == reg;
    if (copies || (decoded->selects && others)) {
        unsigned other = copies ? linear->other : lowest(others);
        if (!copies && f->value[reg] > f->value[other])
            other = reg; /* a conditional move leaves one of both: the worse */
        *code = f->code[other];
        return f->value[other];
    }
    if (linear->kind != LINEAR_ADD || linear->reg != reg || linear->other == NO_REGISTER)
        return VALUE_COMPUTED;
    return added(f->value[reg], f->value[linear->other]);
}

/* Has the values be those behind the statement at POSITION. */
static void follow(struct finder *f, uint32_t position) {
    const struct decoded *decoded = instruction_at(f, position);
    const struct statement *s = &f->unit->statements.data[statement_at(f, position)];
    if (!decoded && s->kind != STATEMENT_INSTRUCTION)
        return;
    const struct finder before = *f;
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (!decoded || (is_call_class(decoded->class) && REGISTER_RAX >> reg & 1))
            f->value[reg] = VALUE_GIVEN;
        else if (decoded->registers_written >> reg & 1)
            f->value[reg] = value_of(&before, position, reg, &f->code[reg]);
}

/* Sets REG to where the jump at POSITION has its address from; returns false where it is no jump by
 * a register. */
static bool find_jump(const struct finder *f, uint32_t position, unsigned *reg) {
    const struct decoded *decoded = instruction_at(f, position);
    if (!decoded)
        return false;
    uint16_t registers = decoded->registers_read & ~REGISTER_RSP;
    if (decoded->class == CLASS_RETURN && position > f->fragment->first) {
        decoded = instruction_at(f, position - 1);
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
    if (label != NONE)
        leave_function_of(f->unit, label, why);
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

/* The symbol of the instruction whose address one of the registers holds, or NONE. */
static uint32_t held_code(const struct finder *f, uint16_t registers) {
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (registers >> reg & 1 && f->value[reg] == VALUE_CODE)
            return f->code[reg];
    return NONE;
}

static bool computes(const struct decoded *decoded) {
    return decoded->class == CLASS_PLAIN && !decoded->memory.loads && !decoded->memory.stores &&
           !decoded->address_to && !decoded->selects && decoded->linear.kind != LINEAR_COPY &&
           decoded->linear.kind != LINEAR_COMPARE && decoded->registers_killed;
}

/* Looks whether the instruction at POSITION jumps where it has computed. */
static void check_jump(const struct finder *f, uint32_t position, struct asm_function *function) {
    unsigned reg;
    if (!find_jump(f, position, &reg) || f->value[reg] != VALUE_COMPUTED)
        return;
    leave(function, jump_reason);
    leave_labels(f);
}

/* What the instruction at POSITION does with the address of another one. */
static void check_addresses(const struct finder *f, uint32_t position, bool jumps,
                            struct asm_function *function) {
    const struct decoded *decoded = instruction_at(f, position);
    uint32_t reached = decoded ? held_code(f, decoded->addressing) : NONE;
    uint32_t read = decoded && computes(decoded) ? held_code(f, decoded->registers_read) : NONE;
    if (reached != NONE)
        leave_symbol(f, reached, bytes_reason);
    if (read == NONE)
        return;
    if (jumps) {
        leave(function, jump_reason);
        leave_labels(f);
    }
    leave_symbol(f, read, address_reason);
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
    unsigned reg;
    for (uint32_t i = f->fragment->first; i < f->fragment->last; i++)
        jumps |= find_jump(f, i, &reg);
    for (reg = 0; reg < GENERAL_REGISTERS; reg++)
        f->value[reg] = VALUE_GIVEN;
    for (uint32_t i = f->fragment->first; i < f->fragment->last; i++) {
        check_jump(f, i, function);
        check_addresses(f, i, jumps, function);
        follow(f, i);
    }
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
