/* vector_registers.c: the vector registers that an instruction reads and writes. */
#include "x86/vector_registers.h"

#include <Zydis/Zydis.h>

/* Returns the bit of the vector register that REG is a part of, or 0 for other registers. */
static uint32_t vector_bit(ZydisRegister reg) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (whole < ZYDIS_REGISTER_ZMM0 || whole > ZYDIS_REGISTER_ZMM31)
        return 0;
    return 1u << (whole - ZYDIS_REGISTER_ZMM0);
}

struct vector_registers find_vector_registers(const uint8_t *code, size_t count) {
    struct vector_registers found = {0, 0};
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, count, &instruction, operands)))
        return found;
    for (int i = 0; i < instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            found.read |= vector_bit(operand->mem.index);
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
            found.read |= vector_bit(operand->reg.value);
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            found.written |= vector_bit(operand->reg.value);
    }
    return found;
}
