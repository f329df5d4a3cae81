/* store.c: how an instruction writes memory; see store.h.
 *
 * Not perfect: movdir64b and enqcmd, whose address is in a register, are not recognised. */
#include "x86/names.h"

#include <string.h>

static uint8_t register_number(ZydisRegister reg) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return NO_REGISTER;
    return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static uint8_t log2_bytes(unsigned bits) {
    uint8_t log = 0;
    while ((8u << log) < bits)
        log++;
    return log;
}

/* Returns the operand in memory that is written, explicit ones first; or NULL. */
static const ZydisDecodedOperand *written_operand(const ZydisDecodedInstruction *instruction,
                                                  const ZydisDecodedOperand *operands) {
    for (int i = 0; i < instruction->operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operands[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
            operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            return &operands[i];
    return NULL;
}

static bool has_prefix(const ZydisDecodedInstruction *instruction, const char *prefix) {
    const char *name = ZydisMnemonicGetString(instruction->mnemonic);
    return name && strncmp(name, prefix, strlen(prefix)) == 0;
}

static void find_address(struct store *store, const ZydisDecodedInstruction *instruction,
                         const ZydisDecodedOperand *operand) {
    store->base = register_number(operand->mem.base);
    store->index = register_number(operand->mem.index);
    store->scale = operand->mem.scale;
    store->displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
    store->thread = operand->mem.segment == ZYDIS_REGISTER_FS;
    store->segment = operand->mem.segment == ZYDIS_REGISTER_GS;
    store->registers = (uint16_t)((store->base != NO_REGISTER ? 1u << store->base : 0) |
                                  (store->index != NO_REGISTER ? 1u << store->index : 0));
    store->relative = operand->mem.base == ZYDIS_REGISTER_RIP;
    store->absolute = has_prefix(instruction, "mov") && operand->mem.base == ZYDIS_REGISTER_NONE &&
                      operand->mem.index == ZYDIS_REGISTER_NONE &&
                      operand->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_POP) {
        store->pushes = (int16_t)(0 - operand->size / 8);
        store->pops = operand->mem.base == ZYDIS_REGISTER_RSP ? (uint8_t)(operand->size / 8) : 0;
    }
}

/* A mask register of AVX-512, or a vector as a mask. */
static bool find_mask(struct store *store, const ZydisDecodedInstruction *instruction,
                      const ZydisDecodedOperand *operands) {
    ZydisRegister reg = instruction->avx.mask.reg;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU ||
        instruction->mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU) {
        store->mask = (uint8_t)(operands[1].reg.value - ZYDIS_REGISTER_XMM0);
        store->mask_kind = MASK_BYTES;
        store->element = 0;
        return true;
    }
    if (has_prefix(instruction, "vmaskmov") || has_prefix(instruction, "vpmaskmov")) {
        reg = operands[1].reg.value;
        store->wide_mask = reg >= ZYDIS_REGISTER_YMM0 && reg <= ZYDIS_REGISTER_YMM31;
        store->mask =
            (uint8_t)(reg - (store->wide_mask ? ZYDIS_REGISTER_YMM0 : ZYDIS_REGISTER_XMM0));
        store->mask_kind = MASK_SIGNS;
        return true;
    }
    if (reg <= ZYDIS_REGISTER_K0 || reg > ZYDIS_REGISTER_K7)
        return false;
    store->mask = (uint8_t)(reg - ZYDIS_REGISTER_K0);
    store->mask_kind = MASK_REGISTER;
    store->compresses =
        has_prefix(instruction, "vpcompress") || has_prefix(instruction, "vcompress");
    return true;
}

/* Returns the number of elements of a gather or scatter: as many as its data and its indices both
 * have. The letter behind "gather" or "scatter" is the size of an index. */
unsigned element_count(const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands, const ZydisDecodedOperand *memory) {
    const char *name = ZydisMnemonicGetString(instruction->mnemonic), *index = strstr(name, "er");
    unsigned index_bits = index && index[2] == 'q' ? 64 : 32, data = 0;
    for (int i = 0; i < instruction->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(operands[i].reg.value) != ZYDIS_REGCLASS_MASK)
            data = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operands[i].reg.value);
    unsigned indices =
        ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, memory->mem.index) / index_bits;
    data /= memory->element_size ? memory->element_size : 1;
    return data < indices ? data : indices;
}

/* Finds the vector of indices, and their size. */
static void find_scatter(struct store *store, const ZydisDecodedInstruction *instruction,
                         const ZydisDecodedOperand *operands, const ZydisDecodedOperand *memory) {
    ZydisRegister index = memory->mem.index;
    ZydisRegister first = index >= ZYDIS_REGISTER_ZMM0   ? ZYDIS_REGISTER_ZMM0
                          : index >= ZYDIS_REGISTER_YMM0 ? ZYDIS_REGISTER_YMM0
                                                         : ZYDIS_REGISTER_XMM0;
    const char *name = strstr(ZydisMnemonicGetString(instruction->mnemonic), "scatter");
    store->kind = STORE_SCATTER;
    store->index_vector = (uint8_t)(index - first);
    store->wide_indices = name && name[strlen("scatter")] == 'q';
    store->count = (uint8_t)element_count(instruction, operands, memory);
    store->mask = (uint8_t)(instruction->avx.mask.reg - ZYDIS_REGISTER_K0);
    store->mask_kind = MASK_REGISTER;
}

static bool is_state(const ZydisDecodedInstruction *instruction) {
    return has_prefix(instruction, "xsave");
}

static bool is_bit_string(const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *operands) {
    return (instruction->mnemonic == ZYDIS_MNEMONIC_BTS ||
            instruction->mnemonic == ZYDIS_MNEMONIC_BTR ||
            instruction->mnemonic == ZYDIS_MNEMONIC_BTC) &&
           operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

struct store find_store(const ZydisDecodedInstruction *instruction,
                        const ZydisDecodedOperand *operands) {
    const ZydisDecodedOperand *operand = written_operand(instruction, operands);
    struct store store = {.kind = STORE_NONE};
    if (instruction->mnemonic == ZYDIS_MNEMONIC_CLZERO)
        return (struct store){.kind = STORE_LINE,
                              .implicit = true,
                              .size = 64,
                              .registers = REGISTER_RAX,
                              .base = 0,
                              .index = NO_REGISTER};
    if (!operand)
        return store;
    store.size = (uint16_t)(operand->size / 8);
    store.element = log2_bytes(operand->element_size);
    find_address(&store, instruction, operand);
    bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        find_scatter(&store, instruction, operands, operand);
    else if (is_state(instruction))
        store.kind = STORE_STATE;
    else if (find_mask(&store, instruction, operands))
        store.kind = STORE_MASKED;
    else if (is_bit_string(instruction, operands))
        store.kind = STORE_BIT;
    else if (instruction->meta.category == ZYDIS_CATEGORY_STRINGOP ||
             instruction->meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
        store.kind = instruction->attributes &
                             (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)
                         ? STORE_STRING
                         : STORE_PLAIN;
    else if (hidden && store.base == register_number(ZYDIS_REGISTER_RSP))
        store.kind = STORE_STACK;
    else
        store.kind = STORE_PLAIN;
    store.enters = instruction->mnemonic == ZYDIS_MNEMONIC_ENTER;
    if (store.kind == STORE_STACK)
        store.pushes = (int16_t)store.size;
    store.implicit = hidden && store.kind != STORE_STACK;
    if (store.kind == STORE_STRING || store.kind == STORE_BIT)
        store.element = log2_bytes(operand->size);
    if (store.kind == STORE_BIT) {
        store.bit_register = register_number(operands[1].reg.value);
        if (store.bit_register != NO_REGISTER)
            store.registers |= (uint16_t)(1u << store.bit_register);
    }
    return store;
}
