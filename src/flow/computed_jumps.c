/* computed_jumps.c: jumps to addresses that hand-written code computes; see computed_jumps.h.
 *
 *     lea 0f(%rip), %rdx; lea (%rdx,%rdi,8), %rdx; jmp *%rdx      # entries eight bytes apart
 *
 * Inserted code would move such entries. So the analysis follows a value through the text: the
 * register of an indirect jump or call, or the value that is pushed directly before a return.
 *
 *   the address of a label; a value from memory; a value from outside       understood
 *   a distance from memory, added to an address that is not of code         understood: a table
 *   every other computed value                                              left alone
 *
 * The nearest writer above in the text is assumed to be the writer of the value. This is wrong if
 * control arrives by another path. So there is a second condition for a function with such a jump:
 * it must not compute with the address of an instruction.
 *
 * If any function computes with the address of code, that code is left alone: a jump may lead there
 * from another function. So is code without a label behind a jump, and code that is read or written
 * through its address: it is patched or copied.
 *
 * Not perfect: the use of labels' addresses in other units is unknown.
 *
 * requires: leave_distances, measure_unit   makes: asm_function.left_alone */
#include "flow/computed_jumps.h"

#include "asm/distances.h"
#include "x86/measure.h"

enum value {
    VALUE_GIVEN,    /* an argument, the result of a call, or a number */
    VALUE_LOADED,   /* loaded from memory */
    VALUE_DATA,     /* the address of anything but an instruction */
    VALUE_CODE,     /* the address of an instruction */
    VALUE_COMPUTED, /* computed from other values */
};

struct finder {
    struct unit *unit;
    uint32_t *label_of; /* by statement: the symbol whose address an instruction takes, or NONE */
    const struct fragment *fragment;
    enum value value[GENERAL_REGISTERS]; /* of the registers before the current instruction */
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

/* Returns the kind of value that the instruction at POSITION writes to REG. If it is VALUE_CODE,
 * sets *CODE to its symbol. */
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
    if (decoded->load_count)
        return VALUE_LOADED;
    bool copies = linear->kind == LINEAR_COPY && linear->reg == reg;
    if (copies || (decoded->selects && others)) {
        unsigned other = copies ? linear->other : lowest(others);
        if (!copies && f->value[reg] > f->value[other])
            other = reg; /* a conditional move: the worse of both values */
        *code = f->code[other];
        return f->value[other];
    }
    if (linear->kind != LINEAR_ADD || linear->reg != reg || linear->other == NO_REGISTER)
        return VALUE_COMPUTED;
    return added(f->value[reg], f->value[linear->other]);
}

/* Changes the values to those after the statement at POSITION. */
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

/* Sets REG to the register that holds the target of the jump at POSITION. Returns false if it does
 * not jump by a register. */
static bool find_jump(const struct finder *f, uint32_t position, unsigned *reg) {
    const struct decoded *decoded = instruction_at(f, position);
    if (!decoded)
        return false;
    uint16_t registers = decoded->registers_read & ~REGISTER_RSP;
    if (decoded->class == CLASS_RETURN && position > f->fragment->first) {
        decoded = instruction_at(f, position - 1);
        if (!decoded || !writes_memory(decoded) || decoded->load_count ||
            !(decoded->registers_written & REGISTER_RSP))
            return false; /* it is not a push */
        registers = decoded->registers_read & ~REGISTER_RSP;
    } else if (decoded->class != CLASS_JUMP_INDIRECT && decoded->class != CLASS_CALL_INDIRECT) {
        return false;
    }
    bool one = registers && !(registers & (registers - 1)) && !decoded->load_count;
    *reg = one ? lowest(registers) : 0;
    return one;
}

/* ---- functions to leave alone ---- */

static void leave(struct asm_function *function, const char *why) {
    if (!function->left_alone)
        function->left_alone = why;
}

/* Leaves alone the function that contains the symbol. */
static void leave_symbol(const struct finder *f, uint32_t symbol, const char *why) {
    uint32_t label = f->unit->symbols.data[symbol].statement;
    if (label != NONE)
        leave_function_of(f->unit, label, why);
}

/* Leaves alone all functions whose labels the fragment takes the addresses of. The address of a
 * function itself does not count. */
static void leave_labels(const struct finder *f) {
    for (uint32_t i = f->fragment->first; i < f->fragment->last; i++) {
        uint32_t symbol = f->label_of[statement_at(f, i)];
        if (symbol != NONE && leads_to_code(f->unit, &f->unit->symbols.data[symbol]) &&
            !f->unit->symbols.data[symbol].function)
            leave_symbol(f, symbol, jump_reason);
    }
}

/* Returns the symbol of the instruction whose address one of REGISTERS holds, or NONE. */
static uint32_t held_code(const struct finder *f, uint16_t registers) {
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (registers >> reg & 1 && f->value[reg] == VALUE_CODE)
            return f->code[reg];
    return NONE;
}

static bool computes(const struct decoded *decoded) {
    return decoded->class == CLASS_PLAIN && !decoded->load_count && !writes_memory(decoded) &&
           !decoded->address_to && !decoded->selects && decoded->linear.kind != LINEAR_COPY &&
           decoded->linear.kind != LINEAR_COMPARE && decoded->registers_killed;
}

/* Leaves FUNCTION alone if the instruction at POSITION jumps to a computed address. */
static void check_jump(const struct finder *f, uint32_t position, struct asm_function *function) {
    unsigned reg;
    if (!find_jump(f, position, &reg) || f->value[reg] != VALUE_COMPUTED)
        return;
    leave(function, jump_reason);
    leave_labels(f);
}

/* Leaves functions alone if the instruction at POSITION uses the address of an instruction as an
 * address, or computes with it. */
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

/* Whether control never falls through the instruction. A trap is not such an instruction: its
 * handler may continue behind it. */
static bool ends_path(const struct decoded *decoded) {
    return decoded->class == CLASS_JUMP || decoded->class == CLASS_JUMP_INDIRECT ||
           decoded->class == CLASS_RETURN;
}

/* Whether the fragment has code without a label behind a jump. An unknown address leads to such
 * code, unless it only fills a gap or stops speculative execution. */
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
        stopped = ends_path(decoded);
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
