/* computation.c: general registers that can be followed; see computation.h.
 *
 * Not perfect: operations of 8 and 16 bits, conditional moves, and shifts by %cl are not followed.
 */
#include "x86/names.h"

/* Returns the number of a register of BITS bits, or NO_REGISTER for others. */
static uint8_t number_of(ZydisRegister reg, unsigned bits) {
    ZydisRegister first = bits == 64 ? ZYDIS_REGISTER_RAX : ZYDIS_REGISTER_EAX;
    return reg >= first && reg <= first + 15 ? (uint8_t)(reg - first) : NO_REGISTER;
}

static unsigned width_of(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER
               ? ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value)
               : 0;
}

/* The second operand is a register of the same size, or a number. */
static struct computation with_second(struct computation computation, uint8_t kind,
                                      const ZydisDecodedOperand *operand) {
    if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        computation.kind = kind;
        computation.constant = operand->imm.value.s;
    } else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        computation.b = number_of(operand->reg.value, computation.wide ? 64 : 32);
        computation.kind = computation.b == NO_REGISTER ? COMPUTES_NOTHING : kind;
    }
    return computation;
}

static struct computation constant_of(struct computation computation, int64_t constant) {
    computation.kind = COMPUTES_SUM;
    computation.a = computation.b = NO_REGISTER;
    computation.constant = constant;
    return computation;
}

static struct computation find_move(struct computation computation,
                                    const ZydisDecodedOperand *from) {
    if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return constant_of(computation, from->imm.value.s);
    if (from->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return computation;
    computation.a = number_of(from->reg.value, computation.wide ? 64 : 32);
    computation.kind = computation.a == NO_REGISTER ? COMPUTES_NOTHING : COMPUTES_SUM;
    return computation;
}

static struct computation find_address(struct computation computation,
                                       const ZydisDecodedOperandMem *memory) {
    bool relative = memory->base == ZYDIS_REGISTER_RIP;
    computation.a = number_of(memory->base, 64);
    computation.b = number_of(memory->index, 64);
    if ((memory->base != ZYDIS_REGISTER_NONE && !relative && computation.a == NO_REGISTER) ||
        (memory->index != ZYDIS_REGISTER_NONE && computation.b == NO_REGISTER))
        return computation; /* an address of 32 bits */
    computation.kind = COMPUTES_SUM;
    computation.scale = memory->scale ? memory->scale : 1;
    computation.relative = relative;
    computation.constant = memory->disp.has_displacement ? memory->disp.value : 0;
    return computation;
}

static struct computation find_shift(struct computation computation, uint8_t kind,
                                     const ZydisDecodedOperand *by) {
    if (by->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return computation;
    computation.kind = kind;
    computation.constant = by->imm.value.s & (computation.wide ? 63 : 31);
    return computation;
}

static struct computation find_extension(struct computation computation,
                                         const ZydisDecodedOperand *from, bool is_signed) {
    if (from->type != ZYDIS_OPERAND_TYPE_REGISTER ||
        (from->reg.value >= ZYDIS_REGISTER_AH && from->reg.value <= ZYDIS_REGISTER_BH))
        return computation;
    ZydisRegister whole =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, from->reg.value);
    computation.a = number_of(whole, 64);
    computation.kind = computation.a == NO_REGISTER ? COMPUTES_NOTHING : COMPUTES_EXTENSION;
    computation.bits = (uint8_t)width_of(from);
    computation.is_signed = is_signed;
    return computation;
}

static struct computation find_product(struct computation computation,
                                       const ZydisDecodedInstruction *instruction,
                                       const ZydisDecodedOperand *operands) {
    if (instruction->operand_count_visible == 2)
        return with_second(computation, COMPUTES_PRODUCT, &operands[1]);
    if (instruction->operand_count_visible != 3 || operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return computation;
    computation.a = number_of(operands[1].reg.value, computation.wide ? 64 : 32);
    return computation.a == NO_REGISTER ? computation
                                        : with_second(computation, COMPUTES_PRODUCT, &operands[2]);
}

struct computation find_computation(const ZydisDecodedInstruction *instruction,
                                    const ZydisDecodedOperand *operands) {
    struct computation none = {.kind = COMPUTES_NOTHING,
                               .scale = 1,
                               .a = NO_REGISTER,
                               .b = NO_REGISTER,
                               .reg = NO_REGISTER};
    struct computation computation = none;
    unsigned width = instruction->operand_count ? width_of(&operands[0]) : 0;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_CDQE) {
        computation.reg = computation.a = 0;
        computation.wide = computation.is_signed = true;
        computation.bits = 32;
        computation.kind = COMPUTES_EXTENSION;
        return computation;
    }
    if (instruction->operand_count_visible < 1 || (width != 32 && width != 64))
        return none;
    computation.wide = width == 64;
    computation.reg = computation.a = number_of(operands[0].reg.value, width);
    if (computation.reg == NO_REGISTER)
        return none;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return find_move(computation, &operands[1]);
    case ZYDIS_MNEMONIC_MOVZX:
        return find_extension(computation, &operands[1], false);
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        return find_extension(computation, &operands[1], true);
    case ZYDIS_MNEMONIC_LEA:
        return find_address(computation, &operands[1].mem);
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        computation.kind = COMPUTES_SUM;
        computation.constant = instruction->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
        return computation;
    case ZYDIS_MNEMONIC_ADD:
        return with_second(computation, COMPUTES_SUM, &operands[1]);
    case ZYDIS_MNEMONIC_SUB:
        return with_second(computation, COMPUTES_DIFFERENCE, &operands[1]);
    case ZYDIS_MNEMONIC_AND:
        return with_second(computation, COMPUTES_AND, &operands[1]);
    case ZYDIS_MNEMONIC_OR:
        return with_second(computation, COMPUTES_OR, &operands[1]);
    case ZYDIS_MNEMONIC_XOR:
        if (operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operands[1].reg.value == operands[0].reg.value)
            return constant_of(computation, 0);
        return with_second(computation, COMPUTES_XOR, &operands[1]);
    case ZYDIS_MNEMONIC_IMUL:
        return find_product(computation, instruction, operands);
    case ZYDIS_MNEMONIC_SHL:
        return find_shift(computation, COMPUTES_SHIFT_LEFT, &operands[1]);
    case ZYDIS_MNEMONIC_SHR:
        return find_shift(computation, COMPUTES_SHIFT_RIGHT, &operands[1]);
    case ZYDIS_MNEMONIC_SAR:
        return find_shift(computation, COMPUTES_SHIFT_SIGNED, &operands[1]);
    default:
        return none;
    }
}

static uint64_t extend(uint64_t value, unsigned bits, bool is_signed) {
    unsigned above = 64 - bits;
    return is_signed ? (uint64_t)((int64_t)(value << above) >> above) : value << above >> above;
}

static uint64_t evaluate(const struct computation *computation, const uint64_t values[16],
                         uint64_t next) {
    uint64_t a = computation->a == NO_REGISTER ? 0 : values[computation->a];
    uint64_t constant = (uint64_t)computation->constant;
    uint64_t b = computation->b == NO_REGISTER ? constant : values[computation->b];
    unsigned width = computation->wide ? 64 : 32;
    uint64_t result = 0;
    switch ((enum computation_kind)computation->kind) {
    case COMPUTES_NOTHING:
        break;
    case COMPUTES_SUM:
        result = a + constant + (computation->relative ? next : 0);
        if (computation->b != NO_REGISTER)
            result += b * computation->scale;
        break;
    case COMPUTES_DIFFERENCE:
        result = a - b;
        break;
    case COMPUTES_AND:
        result = a & b;
        break;
    case COMPUTES_OR:
        result = a | b;
        break;
    case COMPUTES_XOR:
        result = a ^ b;
        break;
    case COMPUTES_PRODUCT:
        result = a * b;
        break;
    case COMPUTES_SHIFT_LEFT:
        result = a << constant;
        break;
    case COMPUTES_SHIFT_RIGHT:
        result = extend(a, width, false) >> constant;
        break;
    case COMPUTES_SHIFT_SIGNED:
        result = (uint64_t)((int64_t)extend(a, width, true) >> constant);
        break;
    case COMPUTES_EXTENSION:
        result = extend(a, computation->bits, computation->is_signed);
        break;
    }
    return extend(result, width, false);
}

static uint16_t bit_of(uint8_t reg) {
    return reg == NO_REGISTER ? 0 : (uint16_t)(1u << reg);
}

/* Returns the registers that a called function keeps. */
static uint16_t registers_kept_by_calls(void) {
    return REGISTER_RBX | REGISTER_RSP | REGISTER_RBP | REGISTER_R12 | REGISTER_R13 | REGISTER_R14 |
           REGISTER_R15;
}

bool moves_stack(const struct decoded *decoded, int *bytes) {
    const struct access *store = &decoded->store;
    if (store->kind == ACCESS_STACK && !store->enters) {
        *bytes = -store->pushes;
        return true;
    }
    for (unsigned i = 0; i < decoded->load_count; i++)
        if (decoded->loads[i].kind == ACCESS_STACK && decoded->loads[i].base == STACK_POINTER) {
            *bytes = decoded->loads[i].size;
            return decoded->transfer.reg != STACK_POINTER;
        }
    return false;
}

bool leaves_frame(const struct decoded *decoded) {
    return decoded->load_count == 1 && decoded->loads[0].kind == ACCESS_STACK &&
           decoded->loads[0].base == FRAME_POINTER;
}

uint16_t follow_registers(const struct decoded *decoded, uint64_t next, uint64_t values[16],
                          uint16_t known) {
    const struct computation *computation = &decoded->computation;
    int bytes = 0;
    if (is_call_class(decoded->class))
        return known & registers_kept_by_calls();
    if (decoded->class == CLASS_SYSTEM)
        return known & (uint16_t) ~(REGISTER_RAX | REGISTER_RCX | REGISTER_R11);
    uint16_t behind = known & (uint16_t)~decoded->registers_written;
    uint16_t inputs = bit_of(computation->a) | bit_of(computation->b);
    if (leaves_frame(decoded)) {
        values[STACK_POINTER] = values[FRAME_POINTER] + LEAVE_POPS;
        return known & REGISTER_RBP ? behind | REGISTER_RSP : behind;
    }
    if (moves_stack(decoded, &bytes)) {
        values[STACK_POINTER] += (uint64_t)(int64_t)bytes;
        return behind | (known & REGISTER_RSP);
    }
    if (computation->kind == COMPUTES_NOTHING || (inputs & ~known))
        return behind;
    values[computation->reg] = evaluate(computation, values, next);
    return behind | bit_of(computation->reg);
}

bool find_computed_register(const struct decoded *decoded, uint8_t *reg, uint16_t *inputs) {
    const struct computation *computation = &decoded->computation;
    int bytes = 0;
    if (is_call_class(decoded->class) || decoded->class == CLASS_SYSTEM)
        return false;
    if (leaves_frame(decoded)) {
        *reg = STACK_POINTER;
        *inputs = REGISTER_RBP;
        return true;
    }
    if (moves_stack(decoded, &bytes) || computation->kind == COMPUTES_NOTHING)
        return false;
    *reg = computation->reg;
    *inputs = bit_of(computation->a) | bit_of(computation->b);
    return true;
}

uint16_t registers_of_accesses(const struct decoded *decoded) {
    uint16_t registers = 0;
    for (unsigned i = 0; i < decoded->load_count; i++)
        registers |= decoded->loads[i].registers;
    if (writes_memory(decoded))
        registers |= decoded->store.registers;
    if (decoded->turns != TURNS_ONE)
        registers |= REGISTER_RCX;
    return registers;
}

/* No instruction has two accesses with vectors. */
unsigned vectors_of_instruction(const struct decoded *decoded,
                                struct access_vector found[ACCESS_VECTORS_MAX]) {
    unsigned count = writes_memory(decoded) ? vectors_of_access(&decoded->store, found) : 0;
    for (unsigned i = 0; i < decoded->load_count && !count; i++)
        count = vectors_of_access(&decoded->loads[i], found);
    return count;
}
