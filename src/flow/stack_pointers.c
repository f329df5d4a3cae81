/* stack_pointers.c: hand-written code that uses the stack pointer for other values; see
 * stack_pointers.h.
 *
 *     mov %rsp, save(%rip); mov %rdi, %rsp; 1: rol $3, %rsp; ...; mov save(%rip), %rsp
 *     mov %rsp, save(%rip); mov %rsi, %rsp; 1: pop %rax; ...; mov save(%rip), %rsp
 *
 * Inserted code may call the runtime, and save registers below the stack pointer. So a function is
 * left alone in two cases:
 *   - It computes the stack pointer by other operations than those of stacks (add, subtract,
 *     align).
 *   - It sets the stack pointer to a value that does not come from the stack pointer, and sets it
 *     again before a call, push, return or indirect jump, which would need a stack.
 * A switch to another stack, as in coroutines, is neither. It is noted: control comes from
 * elsewhere where such a function ends.
 *
 * Not perfect: the text is read from top to bottom. Which values come from the stack pointer is
 * found for the function as a whole.
 *
 * requires: measure_unit   makes: asm_function.left_alone, switches_stacks */
#include "flow/stack_pointers.h"

#include "x86/measure.h"

static const char reason[] = "its stack pointer points to no stack";

struct reader {
    const struct unit *unit;
    const struct fragment *fragment;
    uint16_t from_stack; /* registers with a value from the stack pointer, the frame pointer or
                            the stack */
};

static uint16_t bit_of(uint8_t reg) {
    return reg == NO_REGISTER ? 0 : (uint16_t)(1u << reg);
}

/* Returns the registers whose values the instruction transfers. */
static uint16_t sources_of(const struct transfer *transfer) {
    switch ((enum transfer_kind)transfer->kind) {
    case TRANSFER_COPY:
        return bit_of(transfer->other);
    case TRANSFER_ADD:
        return bit_of(transfer->base) | bit_of(transfer->index);
    case TRANSFER_LOAD:
    case TRANSFER_EXCHANGE:
        return bit_of(transfer->base);
    case TRANSFER_POP:
    case TRANSFER_LEAVE:
        return REGISTER_RSP;
    default:
        return 0;
    }
}

/* Whether the instruction writes the stack pointer by an operation that no stack uses. */
static bool computes(const struct decoded *decoded) {
    return decoded->transfer.kind == TRANSFER_NONE && decoded->class == CLASS_PLAIN &&
           !decoded->aligns_stack && !decoded->load_count && !writes_memory(decoded) &&
           decoded->registers_written & REGISTER_RSP;
}

static bool sets(const struct decoded *decoded) {
    const struct transfer *transfer = &decoded->transfer;
    bool sum = transfer->kind == TRANSFER_ADD && !(sources_of(transfer) & REGISTER_RSP);
    return transfer->reg == STACK_POINTER &&
           (sum || transfer->kind == TRANSFER_COPY || transfer->kind == TRANSFER_LOAD);
}

static bool needs_stack(const struct decoded *decoded) {
    return is_call_class(decoded->class) || decoded->class == CLASS_RETURN ||
           decoded->class == CLASS_JUMP_INDIRECT || decoded->transfer.kind == TRANSFER_PUSH;
}

static void find_sources(struct reader *r, const struct asm_function *function) {
    r->from_stack = REGISTER_RSP | REGISTER_RBP;
    for (uint16_t before = 0; before != r->from_stack;) {
        before = r->from_stack;
        for (size_t n = 0; n < function->fragments.count; n++) {
            r->fragment = &function->fragments.data[n];
            for (uint32_t i = r->fragment->first; i < r->fragment->last; i++) {
                const struct decoded *decoded = hand_written_at(r->unit, r->fragment, i);
                if (decoded && sources_of(&decoded->transfer) & r->from_stack)
                    r->from_stack |= bit_of(decoded->transfer.reg);
            }
        }
    }
}

static bool misuses_stack_pointer(const struct reader *r) {
    bool strange = false;
    for (uint32_t i = r->fragment->first; i < r->fragment->last; i++) {
        const struct decoded *decoded = hand_written_at(r->unit, r->fragment, i);
        if (!decoded)
            continue;
        if (computes(decoded) || (strange && sets(decoded)))
            return true;
        if (sets(decoded))
            strange = !(sources_of(&decoded->transfer) & r->from_stack);
        else if (needs_stack(decoded))
            strange = false;
    }
    return false;
}

/* Whether the stack pointer is set to a value that does not come from it, as far as the text above
 * tells: an argument, or what memory holds. */
static bool switches_stacks(const struct reader *r) {
    uint16_t from_stack = REGISTER_RSP | REGISTER_RBP;
    for (uint32_t i = r->fragment->first; i < r->fragment->last; i++) {
        const struct decoded *decoded = hand_written_at(r->unit, r->fragment, i);
        if (!decoded || decoded->transfer.kind == TRANSFER_NONE)
            continue;
        bool is_from_stack = sources_of(&decoded->transfer) & from_stack;
        if (sets(decoded) && !is_from_stack)
            return true;
        if (is_from_stack)
            from_stack |= bit_of(decoded->transfer.reg);
        else
            from_stack &= (uint16_t) ~(bit_of(decoded->transfer.reg) & ~REGISTER_RSP);
    }
    return false;
}

void leave_stack_pointers(struct unit *unit) {
    struct reader r = {.unit = unit};
    for (size_t i = 0; has_hand_written(unit) && i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        find_sources(&r, function);
        for (size_t n = 0; n < function->fragments.count && !function->left_alone; n++) {
            r.fragment = &function->fragments.data[n];
            function->switches_stacks |= switches_stacks(&r);
            if (misuses_stack_pointer(&r))
                function->left_alone = reason;
        }
    }
}
