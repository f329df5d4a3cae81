/* linear.c: instructions that loops count with; see linear.h. */
#include "x86/names.h"

/* Returns the number of a register of 32 or 64 bits, or NO_REGISTER for others. */
static uint8_t number_of(ZydisRegister reg) {
    if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15)
        return (uint8_t)(reg - ZYDIS_REGISTER_RAX);
    if (reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D)
        return (uint8_t)(reg - ZYDIS_REGISTER_EAX);
    return NO_REGISTER;
}

static bool is_register(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           number_of(operand->reg.value) != NO_REGISTER;
}

/* lea that adds a number, or another register, to the register itself. */
static struct linear find_lea(const ZydisDecodedOperand *operands, struct linear linear) {
    const ZydisDecodedOperandMem *address = &operands[1].mem;
    uint8_t base = number_of(address->base), index = number_of(address->index);
    bool wide = address->base >= ZYDIS_REGISTER_RAX && address->base <= ZYDIS_REGISTER_R15;
    linear.constant = address->disp.has_displacement ? address->disp.value : 0;
    if (!wide || address->base == ZYDIS_REGISTER_RSP)
        return linear;
    if (base == linear.reg && address->index == ZYDIS_REGISTER_NONE)
        linear.kind = LINEAR_ADD;
    else if (linear.constant == 0 && address->scale == 1 && base != index &&
             (base == linear.reg || index == linear.reg)) {
        linear.kind = LINEAR_ADD;
        linear.other = base == linear.reg ? index : base;
    }
    linear.written = address->disp.has_displacement;
    return linear;
}

/* The second operand is a register, or a number in the text. */
static struct linear find_second(const ZydisDecodedOperand *operand, struct linear linear,
                                 uint8_t kind) {
    if (is_register(operand)) {
        linear.kind = kind;
        linear.other = number_of(operand->reg.value);
    } else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        linear.kind = kind;
        linear.constant = operand->imm.value.s;
        linear.written = true;
    }
    return linear;
}

struct linear find_linear(const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *operands) {
    struct linear linear = {.kind = LINEAR_NONE, .other = NO_REGISTER, .flags = true};
    if (instruction->operand_count_visible < 1 || !is_register(&operands[0]))
        return linear;
    linear.reg = number_of(operands[0].reg.value);
    linear.wide = operands[0].size == 64;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        linear.kind = LINEAR_ADD;
        linear.constant = instruction->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
        return linear;
    case ZYDIS_MNEMONIC_ADD:
        return find_second(&operands[1], linear, LINEAR_ADD);
    case ZYDIS_MNEMONIC_SUB:
        linear = find_second(&operands[1], linear, LINEAR_ADD);
        linear.kind = linear.other == NO_REGISTER ? linear.kind : LINEAR_NONE;
        linear.constant = -linear.constant;
        return linear;
    case ZYDIS_MNEMONIC_LEA:
        linear.flags = false;
        return find_lea(operands, linear);
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSXD:
        linear =
            is_register(&operands[1]) ? find_second(&operands[1], linear, LINEAR_COPY) : linear;
        linear.is_signed = instruction->mnemonic == ZYDIS_MNEMONIC_MOVSXD;
        linear.wide = operands[1].size == 64;
        return linear;
    case ZYDIS_MNEMONIC_CMP:
        return find_second(&operands[1], linear, LINEAR_COMPARE);
    case ZYDIS_MNEMONIC_TEST:
        linear.kind = is_register(&operands[1]) && number_of(operands[1].reg.value) == linear.reg
                          ? LINEAR_COMPARE
                          : LINEAR_NONE;
        return linear;
    default:
        return linear;
    }
}
