/* transfer.c: instructions that move addresses; see transfer.h. */
#include "x86/names.h"

/* Returns the number of a register of 64 bits, or NO_REGISTER for others. */
static uint8_t number_in_address(ZydisRegister reg) {
    return reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15
               ? (uint8_t)(reg - ZYDIS_REGISTER_RAX)
               : NO_REGISTER;
}

static uint8_t number_of(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER ? number_in_address(operand->reg.value)
                                                        : NO_REGISTER;
}

static void set_address(struct transfer *transfer, const ZydisDecodedOperand *memory) {
    transfer->base = number_in_address(memory->mem.base);
    transfer->index = number_in_address(memory->mem.index);
    transfer->displacement = memory->mem.disp.has_displacement ? memory->mem.disp.value : 0;
    transfer->plain = transfer->base != NO_REGISTER && memory->mem.index == ZYDIS_REGISTER_NONE &&
                      memory->mem.segment != ZYDIS_REGISTER_FS &&
                      memory->mem.segment != ZYDIS_REGISTER_GS;
}

/* add, sub, inc, dec of a register. */
static struct transfer find_sum(const ZydisDecodedInstruction *instruction,
                                const ZydisDecodedOperand *operands, struct transfer transfer) {
    bool subtracts = instruction->mnemonic == ZYDIS_MNEMONIC_SUB;
    transfer.reg = transfer.base = number_of(&operands[0]);
    if (transfer.reg == NO_REGISTER)
        return transfer;
    transfer.kind = TRANSFER_ADD;
    transfer.plain = true;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_INC) {
        transfer.displacement = 1;
    } else if (instruction->mnemonic == ZYDIS_MNEMONIC_DEC) {
        transfer.displacement = -1;
    } else if (operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        transfer.displacement = subtracts ? -operands[1].imm.value.s : operands[1].imm.value.s;
    } else {
        transfer.index = number_of(&operands[1]);
        transfer.plain = false;
    }
    return transfer;
}

static struct transfer find_move(const ZydisDecodedOperand *to, const ZydisDecodedOperand *from,
                                 struct transfer transfer) {
    bool loads = from->type == ZYDIS_OPERAND_TYPE_MEMORY;
    bool stores = to->type == ZYDIS_OPERAND_TYPE_MEMORY;
    if (loads || stores)
        set_address(&transfer, loads ? from : to);
    transfer.reg = number_of(stores ? from : to);
    if (stores) {
        transfer.kind = TRANSFER_STORE;
    } else if (transfer.reg != NO_REGISTER) {
        transfer.other = number_of(from);
        if (loads || transfer.other != NO_REGISTER)
            transfer.kind = loads ? TRANSFER_LOAD : TRANSFER_COPY;
    }
    return transfer;
}

/* Whether the first operand in the text is in memory and is read and written. */
static bool changes_memory(const ZydisDecodedInstruction *instruction,
                           const ZydisDecodedOperand *operand) {
    return instruction->operand_count_visible && operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
           operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
           operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
}

static struct transfer find_other(const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operands, struct transfer transfer) {
    bool memory = operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
    ZydisInstructionCategory category = instruction->meta.category;
    if (changes_memory(instruction, &operands[0])) {
        transfer.kind = TRANSFER_CHANGE;
        set_address(&transfer, &operands[0]);
    } else if (memory && instruction->operand_count_visible &&
               (category == ZYDIS_CATEGORY_UNCOND_BR || category == ZYDIS_CATEGORY_CALL)) {
        transfer.kind = TRANSFER_BRANCH;
        set_address(&transfer, &operands[0]);
    }
    return transfer;
}

struct transfer find_transfer(const ZydisDecodedInstruction *instruction,
                              const ZydisDecodedOperand *operands) {
    struct transfer transfer = {.kind = TRANSFER_NONE,
                                .reg = NO_REGISTER,
                                .other = NO_REGISTER,
                                .base = NO_REGISTER,
                                .index = NO_REGISTER};
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return find_move(&operands[0], &operands[1], transfer);
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        transfer = find_sum(instruction, operands, transfer);
        break;
    case ZYDIS_MNEMONIC_LEA:
        transfer.reg = number_of(&operands[0]);
        set_address(&transfer, &operands[1]);
        transfer.kind = transfer.reg == NO_REGISTER ? TRANSFER_NONE : TRANSFER_ADD;
        return transfer;
    case ZYDIS_MNEMONIC_XCHG:
        transfer = find_move(&operands[0], &operands[1], transfer);
        transfer.kind =
            operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? TRANSFER_EXCHANGE : TRANSFER_NONE;
        return transfer;
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
        transfer.kind = instruction->mnemonic == ZYDIS_MNEMONIC_PUSH ? TRANSFER_PUSH : TRANSFER_POP;
        transfer.reg = number_of(&operands[0]);
        if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
            set_address(&transfer, &operands[0]);
        return instruction->operand_width == 64 ? transfer
                                                : (struct transfer){.kind = TRANSFER_NONE};
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPFQ:
        transfer.kind =
            instruction->mnemonic == ZYDIS_MNEMONIC_PUSHFQ ? TRANSFER_PUSH : TRANSFER_POP;
        return transfer;
    case ZYDIS_MNEMONIC_LEAVE:
        transfer.kind = TRANSFER_LEAVE;
        return transfer;
    default:
        break;
    }
    return transfer.kind == TRANSFER_NONE ? find_other(instruction, operands, transfer) : transfer;
}
