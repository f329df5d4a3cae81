/* return_addresses.c: calls of hand-written code that uses the bytes behind the call; see
 * return_addresses.h.
 *
 *     f: addq $4, (%rsp); ret                  # the caller's next instruction is skipped
 *     g: pop %rsi; lodsb; jmp *%rsi            # the caller has a byte there
 *
 * Code inserted behind such a call would be skipped, or read in place of the caller's bytes. So the
 * analysis follows the return address through all paths of each directly called piece of code, in
 * registers and on the stack. Callers are left alone if the code computes with the address and then
 * jumps to the result, or accesses memory at the address. Code that stores the address, loads it,
 * or jumps to it unchanged does no harm.
 *
 * Not perfect: if several paths lead to one statement, only the first is followed. A callee in
 * another unit is not seen, unless it has a known name. Nor is a callee that is called through a
 * pointer. So functions that other units may call are marked, and reported when their file is
 * assembled.
 *
 * Of compiled code, -fsplit-stack has such calls, and -mspeculative-load-hardening compares the
 * address to which each call has returned.
 *
 * requires: measure_unit   makes: asm_function.left_alone, returns_elsewhere */
#include "flow/return_addresses.h"

#include "x86/measure.h"

#include <string.h>

enum {
    SLOTS = 16,            /* of the stack, with known content */
    STATEMENTS_MAX = 4096, /* that are followed from one label */
    STACK_SLOT = 8
};

enum content {
    CONTENT_OTHER,
    CONTENT_STACK,  /* the stack pointer at the begin, plus `offset` */
    CONTENT_RETURN, /* the return address */
    CONTENT_NEAR    /* computed from the return address */
};

struct value {
    uint8_t content;
    int64_t offset;
};

struct state {
    uint32_t position; /* in the section */
    struct value registers[GENERAL_REGISTERS];
    struct {
        int64_t offset;
        struct value value;
    } slots[SLOTS];
    uint32_t slot_count;
};

struct follower {
    struct unit *unit;
    struct arena arena;
    uint32_t *position_of; /* by statement: its position in its section */
    uint32_t *seen_from; /* by statement: the number of the last label from which it was followed */
    VECTOR(struct state) ways; /* to be followed */
    uint32_t section;
    uint32_t place; /* number of the label that is followed, from 1 */
    bool harmful;
};

static const char reason[] = "it calls what changes or reads the address that it returns to";
static const char split_reason[] = "its stack is split, by a call that returns elsewhere";
static const char compared_reason[] = "it reads the address that its call has returned to";

static bool is_return(struct value value) {
    return value.content == CONTENT_RETURN || value.content == CONTENT_NEAR;
}

/* ---- the stack ---- */

static struct value slot_at(const struct state *state, struct value address) {
    for (uint32_t i = 0; address.content == CONTENT_STACK && i < state->slot_count; i++)
        if (state->slots[i].offset == address.offset)
            return state->slots[i].value;
    return (struct value){0};
}

static void set_slot(struct state *state, struct value address, struct value value) {
    if (address.content != CONTENT_STACK)
        return;
    uint32_t i = 0;
    while (i < state->slot_count && state->slots[i].offset != address.offset)
        i++;
    if (i == SLOTS || (i == state->slot_count && value.content == CONTENT_OTHER))
        return;
    state->slots[i].offset = address.offset;
    state->slots[i].value = value;
    state->slot_count += i == state->slot_count;
}

static struct value moved(struct value value, int64_t by) {
    if (value.content == CONTENT_RETURN && by)
        value.content = CONTENT_NEAR;
    value.offset += by;
    return value;
}

/* ---- one instruction ---- */

static struct value value_of(const struct state *state, uint8_t reg) {
    struct value none = {0};
    return reg == NO_REGISTER ? none : state->registers[reg];
}

/* Returns the address of the operand in memory. */
static struct value address_of(const struct state *state, const struct transfer *transfer) {
    struct value base = value_of(state, transfer->base);
    struct value none = {0};
    return transfer->plain ? moved(base, transfer->displacement) : none;
}

static struct value sum_of(const struct state *state, const struct transfer *transfer) {
    struct value base = value_of(state, transfer->base), index = value_of(state, transfer->index);
    if (!transfer->plain && (is_return(base) || is_return(index)))
        return (struct value){CONTENT_NEAR, 0};
    return address_of(state, transfer);
}

static void push(struct state *state, struct value value) {
    struct value *top = &state->registers[STACK_POINTER];
    *top = moved(*top, -STACK_SLOT);
    set_slot(state, *top, value);
}

static struct value pop(struct state *state) {
    struct value *top = &state->registers[STACK_POINTER], value = slot_at(state, *top);
    *top = moved(*top, STACK_SLOT);
    return value;
}

/* Handles all other instructions: a result is computed from the return address if an operand is. */
static void write_others(struct state *state, const struct decoded *decoded) {
    struct value value = {0};
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (decoded->registers_read >> reg & 1 && is_return(state->registers[reg]))
            value.content = CONTENT_NEAR;
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (decoded->registers_written >> reg & 1)
            state->registers[reg] = value;
}

static void set_register(struct state *state, uint8_t reg, struct value value) {
    if (reg != NO_REGISTER)
        state->registers[reg] = value;
}

static void transfer_values(struct state *state, const struct decoded *decoded) {
    const struct transfer *transfer = &decoded->transfer;
    struct value address = address_of(state, transfer), value = value_of(state, transfer->reg);
    switch ((enum transfer_kind)transfer->kind) {
    case TRANSFER_COPY:
        set_register(state, transfer->reg, value_of(state, transfer->other));
        break;
    case TRANSFER_ADD:
        set_register(state, transfer->reg, sum_of(state, transfer));
        break;
    case TRANSFER_LOAD:
        set_register(state, transfer->reg, slot_at(state, address));
        break;
    case TRANSFER_EXCHANGE:
        set_register(state, transfer->reg, slot_at(state, address));
        set_slot(state, address, value);
        break;
    case TRANSFER_STORE:
        set_slot(state, address, value);
        break;
    case TRANSFER_CHANGE:
        if (is_return(slot_at(state, address)))
            set_slot(state, address, (struct value){CONTENT_NEAR, 0});
        break;
    case TRANSFER_PUSH:
        push(state, transfer->reg == NO_REGISTER ? slot_at(state, address) : value);
        break;
    case TRANSFER_POP:
        set_register(state, transfer->reg, pop(state));
        break;
    case TRANSFER_LEAVE:
        state->registers[STACK_POINTER] = state->registers[FRAME_POINTER];
        state->registers[FRAME_POINTER] = pop(state);
        break;
    case TRANSFER_BRANCH:
    case TRANSFER_NONE:
        write_others(state, decoded);
        break;
    }
}

/* Whether the instruction accesses memory at the return address. */
static bool reads_there(const struct state *state, const struct decoded *decoded) {
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (decoded->addressing >> reg & 1 && is_return(state->registers[reg]))
            return true;
    return false;
}

/* Returns the target of an indirect branch or a return. */
static struct value target_of(const struct state *state, const struct decoded *decoded) {
    const struct transfer *transfer = &decoded->transfer;
    if (decoded->class == CLASS_RETURN)
        return slot_at(state, state->registers[STACK_POINTER]);
    if (transfer->kind == TRANSFER_BRANCH)
        return slot_at(state, address_of(state, transfer));
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (decoded->registers_read >> reg & 1 && is_return(state->registers[reg]))
            return state->registers[reg];
    return (struct value){0};
}

static bool goes_near(const struct state *state, const struct decoded *decoded) {
    bool calls = decoded->class == CLASS_CALL_INDIRECT;
    if (!calls && decoded->class != CLASS_JUMP_INDIRECT && decoded->class != CLASS_RETURN)
        return false;
    struct value target = target_of(state, decoded);
    return target.content == CONTENT_NEAR || (calls && target.content == CONTENT_RETURN);
}

/* ---- paths ---- */

static void follow(struct follower *f, const struct state *state, uint32_t label) {
    const struct unit *unit = f->unit;
    if (label == NONE || unit->statements.data[label].section != f->section)
        return;
    vector_push(&f->arena, &f->ways, *state);
    f->ways.data[f->ways.count - 1].position = f->position_of[label];
}

/* Changes the registers that the callee of a call may change. Their values are unknown then. */
static void pass_call(struct state *state, uint8_t class) {
    uint16_t lost = class == CLASS_SYSTEM
                        ? REGISTER_RAX | REGISTER_RCX | REGISTER_R11
                        : (uint16_t) ~(REGISTER_RBX | REGISTER_RSP | REGISTER_RBP | REGISTER_R12 |
                                       REGISTER_R13 | REGISTER_R14 | REGISTER_R15);
    for (unsigned reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (lost >> reg & 1)
            state->registers[reg] = (struct value){0};
}

/* Follows the instruction STATEMENT. Returns whether control continues behind it. */
static bool pass_instruction(struct follower *f, struct state *state, uint32_t statement) {
    const struct statement *s = &f->unit->statements.data[statement];
    const struct decoded *decoded = &f->unit->code->decoded[statement];
    uint32_t label = s->symbol == NONE ? NONE : f->unit->symbols.data[s->symbol].statement;
    if (reads_there(state, decoded) || goes_near(state, decoded)) {
        f->harmful = true;
        return false;
    }
    switch ((enum instruction_class)decoded->class) {
    case CLASS_PLAIN:
        transfer_values(state, decoded);
        return true;
    case CLASS_CALL:
    case CLASS_CALL_INDIRECT:
    case CLASS_SYSTEM:
        pass_call(state, decoded->class);
        return true;
    case CLASS_CONDITIONAL:
    case CLASS_CONDITIONAL_NEAR:
    case CLASS_TRANSACTION:
        follow(f, state, label);
        return true;
    case CLASS_JUMP:
        follow(f, state, label);
        return false;
    default:
        return false;
    }
}

static void follow_path(struct follower *f, struct state state, unsigned *left) {
    struct unit *unit = f->unit;
    const struct section *section = &unit->sections.data[f->section];
    for (; state.position < section->statements.count && *left; state.position++, --*left) {
        uint32_t index = section->statements.data[state.position];
        const struct statement *s = &unit->statements.data[index];
        if (f->seen_from[index] == f->place || s->data || s->opaque)
            return;
        f->seen_from[index] = f->place;
        if (s->kind != STATEMENT_INSTRUCTION || s->prefix)
            continue;
        if (!is_hand_written(unit, s) || !unit->code->decoded[index].size ||
            !pass_instruction(f, &state, index))
            return;
    }
}

/* Whether the code called at LABEL changes its return address, or reads the bytes there. */
static bool is_harmful(struct follower *f, uint32_t label) {
    struct state state = {.position = f->position_of[label], .slot_count = 1};
    unsigned left = STATEMENTS_MAX;
    state.registers[STACK_POINTER] = (struct value){CONTENT_STACK, 0};
    state.slots[0].value = (struct value){CONTENT_RETURN, 0};
    f->section = f->unit->statements.data[label].section;
    f->place++;
    f->harmful = false;
    f->ways.count = 0;
    follow_path(f, state, &left);
    while (f->ways.count && !f->harmful)
        follow_path(f, f->ways.data[--f->ways.count], &left);
    return f->harmful;
}

/* ---- calls ---- */

static void leave_callers_of(struct unit *unit, uint32_t symbol, const char *why) {
    for (uint32_t i = 0; i < unit->statements.count; i++)
        if (unit->statements.data[i].kind == STATEMENT_INSTRUCTION &&
            unit->statements.data[i].symbol == symbol)
            leave_function_of(unit, i, why);
}

/* Leaves the callers of -fsplit-stack's functions alone: such a call returns behind the `ret` that
 * follows it. */
static void leave_split_stacks(struct unit *unit) {
    static const char *const names[] = {"__morestack", "__morestack_non_split",
                                        "__morestack_large_model"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const uint32_t *symbol = map_find(&unit->symbol_index, names[i], strlen(names[i]));
        if (symbol)
            leave_callers_of(unit, *symbol, split_reason);
    }
}

static bool reads_return_address(const struct decoded *decoded) {
    const struct transfer *transfer = &decoded->transfer;
    return transfer->kind == TRANSFER_LOAD && transfer->plain && transfer->base == STACK_POINTER &&
           transfer->displacement == -STACK_SLOT;
}

/* clang's -mspeculative-load-hardening reads, behind a call, the address to which the call has
 * returned. It is still below the stack pointer. The code compares it with the label behind the
 * call. */
static void leave_readers_behind_calls(struct unit *unit) {
    for (size_t i = 0; i < unit->sections.count; i++) {
        const struct section *section = &unit->sections.data[i];
        bool behind_call = false;
        for (size_t n = 0; section->executable && n < section->statements.count; n++) {
            uint32_t index = section->statements.data[n];
            const struct decoded *decoded = &unit->code->decoded[index];
            if (unit->statements.data[index].kind != STATEMENT_INSTRUCTION || !decoded->size)
                continue;
            if (behind_call && reads_return_address(decoded))
                leave_function_of(unit, index, compared_reason);
            behind_call = is_call_class(decoded->class) ||
                          (behind_call && decoded->class == CLASS_PLAIN &&
                           !writes_memory(decoded) && !(decoded->registers_written & REGISTER_RSP));
        }
    }
}

static void leave_callers(struct follower *f) {
    struct unit *unit = f->unit;
    uint8_t *known = ARENA_ARRAY(&f->arena, uint8_t, unit->symbols.count); /* 1: no, 2: yes */
    for (uint32_t i = 0; i < unit->statements.count; i++) {
        const struct statement *s = &unit->statements.data[i];
        if (s->kind != STATEMENT_INSTRUCTION || s->symbol == NONE)
            continue;
        const struct symbol *symbol = &unit->symbols.data[s->symbol];
        if (symbol->statement == NONE || unit->code->decoded[i].class != CLASS_CALL)
            continue;
        if (!known[s->symbol])
            known[s->symbol] = 1 + is_harmful(f, symbol->statement);
        if (known[s->symbol] == 2)
            leave_function_of(unit, i, reason);
    }
}

/* Marks the functions that other units may call: their callers are unknown. */
static void mark_functions(struct follower *f) {
    struct unit *unit = f->unit;
    for (size_t i = 0; i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        uint32_t label = unit->symbols.data[function->symbol].statement;
        if (unit->symbols.data[function->symbol].global && label != NONE &&
            is_hand_written(unit, &unit->statements.data[label]))
            function->returns_elsewhere = is_harmful(f, label);
    }
}

void leave_return_addresses(struct unit *unit) {
    struct follower f = {.unit = unit};
    leave_split_stacks(unit);
    leave_readers_behind_calls(unit);
    if (!has_hand_written(unit))
        return;
    f.position_of = ARENA_ARRAY(&f.arena, uint32_t, unit->statements.count);
    f.seen_from = ARENA_ARRAY(&f.arena, uint32_t, unit->statements.count);
    for (size_t i = 0; i < unit->sections.count; i++)
        for (uint32_t n = 0; n < unit->sections.data[i].statements.count; n++)
            f.position_of[unit->sections.data[i].statements.data[n]] = n;
    mark_functions(&f);
    leave_callers(&f);
    arena_release(&f.arena);
}
