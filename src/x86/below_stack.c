/* below_stack.c: whether an instruction may lead below the stack pointer; see below_stack.h. */
#include "x86/below_stack.h"

static enum below_stack at_operand(const struct access *access) {
    if (access->kind == ACCESS_NONE || access->kind == ACCESS_STACK ||
        access->base != STACK_POINTER)
        return ABOVE_STACK;
    if (access->displacement < 0)
        return BELOW_STACK;
    bool varies = access->kind != ACCESS_PLAIN || access->index != NO_REGISTER;
    return varies ? BELOW_STACK_PERHAPS : ABOVE_STACK;
}

/* What is computed from the stack pointer, by a move, a sum, or in a way that is not known. A new
 * stack pointer is none of these. */
static enum below_stack at_result(const struct decoded *decoded) {
    const struct computation *computation = &decoded->computation;
    bool operand = decoded->addressing & REGISTER_RSP;
    bool moves = decoded->registers_written & REGISTER_RSP;
    bool returns = is_call_class(decoded->class) || decoded->class == CLASS_RETURN;
    if (!(decoded->registers_read & REGISTER_RSP) || operand || moves || returns)
        return ABOVE_STACK;
    bool sum = computation->kind == COMPUTES_SUM && computation->a == STACK_POINTER &&
               computation->b == NO_REGISTER;
    return sum && computation->constant < 0 ? BELOW_STACK : BELOW_STACK_PERHAPS;
}

enum below_stack finds_below_stack(const struct decoded *decoded) {
    enum below_stack found = at_result(decoded), other = at_operand(&decoded->store);
    found = other > found ? other : found;
    for (uint8_t i = 0; i < decoded->load_count; i++) {
        other = at_operand(&decoded->loads[i]);
        found = other > found ? other : found;
    }
    return found;
}
