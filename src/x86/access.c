/* access.c: how an instruction reads and writes memory; see access.h.
 *
 * Not perfect
 *   - movdir64b and enqcmd, whose address is in a register, are not recognised.
 *   - What enter reads, to copy the pointers of outer frames, is not described. Compilers do not
 * use that.
 *   - Shifts of vectors by a number in memory read it even where the mask selects nothing. */
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

static bool has_prefix(const ZydisDecodedInstruction *instruction, const char *prefix) {
    const char *name = ZydisMnemonicGetString(instruction->mnemonic);
    return name && strncmp(name, prefix, strlen(prefix)) == 0;
}

static void find_address(struct access *access, const ZydisDecodedInstruction *instruction,
                         const ZydisDecodedOperand *operand) {
    access->base = register_number(operand->mem.base);
    access->index = register_number(operand->mem.index);
    access->scale = operand->mem.scale;
    access->displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
    access->thread = operand->mem.segment == ZYDIS_REGISTER_FS;
    access->segment = operand->mem.segment == ZYDIS_REGISTER_GS;
    access->registers = (uint16_t)((access->base != NO_REGISTER ? 1u << access->base : 0) |
                                   (access->index != NO_REGISTER ? 1u << access->index : 0));
    access->relative = operand->mem.base == ZYDIS_REGISTER_RIP;
    access->absolute = has_prefix(instruction, "mov") && operand->mem.base == ZYDIS_REGISTER_NONE &&
                       operand->mem.index == ZYDIS_REGISTER_NONE &&
                       operand->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_XLAT)
        access->index = 0; /* %al */
    if (instruction->mnemonic == ZYDIS_MNEMONIC_POP &&
        operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT) {
        access->pushes = (int16_t)(0 - operand->size / 8);
        access->pops = operand->mem.base == ZYDIS_REGISTER_RSP ? (uint8_t)(operand->size / 8) : 0;
    }
}

static bool is_gather(const ZydisDecodedOperand *memory) {
    return memory->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
}

static void set_vector_mask(struct access *access, ZydisRegister reg) {
    access->wide_mask = reg >= ZYDIS_REGISTER_YMM0 && reg <= ZYDIS_REGISTER_YMM31;
    access->mask = (uint8_t)(reg - (access->wide_mask ? ZYDIS_REGISTER_YMM0 : ZYDIS_REGISTER_XMM0));
    access->mask_kind = MASK_SIGNS;
}

/* Returns the number of elements of the first vector register. */
static uint8_t vector_elements(const ZydisDecodedInstruction *instruction,
                               const ZydisDecodedOperand *operands,
                               const ZydisDecodedOperand *memory) {
    for (int i = 0; i < instruction->operand_count_visible; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(operands[i].reg.value) >= ZYDIS_REGCLASS_XMM &&
            ZydisRegisterGetClass(operands[i].reg.value) <= ZYDIS_REGCLASS_ZMM)
            return (uint8_t)operands[i].element_count;
    return (uint8_t)(instruction->avx.vector_length / memory->element_size);
}

/* Whether a mask selects only what is computed: the whole operand is read. The Intel manual,
 * exceptions of type E4NF, E5NF and E6NF: no fault suppression. Compared with a processor. */
static bool is_read_whole(const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *memory) {
    static const char *const names[] = {
        "vperm",     "valign",    "vpalignr",     "vpshufb",    "vpshufd",
        "vpshufh",   "vpshufl",   "vshuf",        "vpunpck",    "vunpck",
        "vpack",     "vpmaddwd",  "vpmaddubsw",   "vdbpsadbw",  "vmovddup",
        "vmovshdup", "vmovsldup", "vpmultishift", "vpconflict", "vinsert",
    };
    if (memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ||
        instruction->mnemonic == ZYDIS_MNEMONIC_VPSHUFBITQMB)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (has_prefix(instruction, names[i]))
            return true;
    return false;
}

/* A mask register of AVX-512, or a vector as a mask. */
static bool find_mask(struct access *access, const ZydisDecodedInstruction *instruction,
                      const ZydisDecodedOperand *operands, const ZydisDecodedOperand *memory) {
    ZydisRegister reg = instruction->avx.mask.reg;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU ||
        instruction->mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU) {
        access->mask = (uint8_t)(operands[1].reg.value - ZYDIS_REGISTER_XMM0);
        access->mask_kind = MASK_BYTES;
        access->element = 0;
        return true;
    }
    if (has_prefix(instruction, "vmaskmov") || has_prefix(instruction, "vpmaskmov")) {
        set_vector_mask(access, operands[1].reg.value);
        return true;
    }
    if (reg <= ZYDIS_REGISTER_K0 || reg > ZYDIS_REGISTER_K7 || is_read_whole(instruction, memory)) {
        if (is_gather(memory)) /* of AVX2 */
            set_vector_mask(access, operands[2].reg.value);
        return false;
    }
    access->mask = (uint8_t)(reg - ZYDIS_REGISTER_K0);
    access->mask_kind = MASK_REGISTER;
    access->mask_count =
        instruction->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID
            ? vector_elements(instruction, operands, memory)
            : (uint8_t)(memory->size / (memory->element_size ? memory->element_size : 1));
    access->compresses = has_prefix(instruction, "vpcompress") ||
                         has_prefix(instruction, "vcompress") ||
                         has_prefix(instruction, "vpexpand") || has_prefix(instruction, "vexpand");
    return true;
}

/* Returns the number of elements of a gather or scatter: as many as its data and its indices both
 * have. The letter behind "gather" or "scatter" is the size of an index. */
static unsigned element_count(const ZydisDecodedInstruction *instruction,
                              const ZydisDecodedOperand *operands,
                              const ZydisDecodedOperand *memory) {
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

/* Finds the vector of indices, and their size: the letter behind "gather" or "scatter". */
static void find_indices(struct access *access, const ZydisDecodedInstruction *instruction,
                         const ZydisDecodedOperand *operands, const ZydisDecodedOperand *memory) {
    ZydisRegister index = memory->mem.index;
    ZydisRegister first = index >= ZYDIS_REGISTER_ZMM0   ? ZYDIS_REGISTER_ZMM0
                          : index >= ZYDIS_REGISTER_YMM0 ? ZYDIS_REGISTER_YMM0
                                                         : ZYDIS_REGISTER_XMM0;
    const char *name = strstr(ZydisMnemonicGetString(instruction->mnemonic), "er");
    access->index_vector = (uint8_t)(index - first);
    access->wide_indices = name && name[2] == 'q';
    access->count = (uint8_t)element_count(instruction, operands, memory);
}

static bool is_state(const ZydisDecodedInstruction *instruction) {
    return has_prefix(instruction, "xsave") || has_prefix(instruction, "xrstor");
}

static bool is_bit_string(const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *operands) {
    return (instruction->mnemonic == ZYDIS_MNEMONIC_BT ||
            instruction->mnemonic == ZYDIS_MNEMONIC_BTS ||
            instruction->mnemonic == ZYDIS_MNEMONIC_BTR ||
            instruction->mnemonic == ZYDIS_MNEMONIC_BTC) &&
           operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_string(const ZydisDecodedInstruction *instruction) {
    return instruction->meta.category == ZYDIS_CATEGORY_STRINGOP ||
           instruction->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

static bool is_on_stack(const ZydisDecodedInstruction *instruction, const struct access *access,
                        const ZydisDecodedOperand *memory) {
    return memory->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
           (access->base == STACK_POINTER || instruction->mnemonic == ZYDIS_MNEMONIC_LEAVE);
}

static enum access_kind find_kind(struct access *access, const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operands,
                                  const ZydisDecodedOperand *memory) {
    bool masked = find_mask(access, instruction, operands, memory);
    if (is_gather(memory))
        return ACCESS_SCATTERED;
    if (is_state(instruction))
        return ACCESS_STATE;
    if (masked)
        return ACCESS_MASKED;
    if (is_bit_string(instruction, operands))
        return ACCESS_BIT;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_XLAT)
        return ACCESS_BYTE;
    if (is_string(instruction))
        return instruction->attributes &
                       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)
                   ? ACCESS_STRING
                   : ACCESS_PLAIN;
    return is_on_stack(instruction, access, memory) ? ACCESS_STACK : ACCESS_PLAIN;
}

static struct access describe(const ZydisDecodedInstruction *instruction,
                              const ZydisDecodedOperand *operands,
                              const ZydisDecodedOperand *memory) {
    struct access access = {.count = 1, .size = (uint16_t)(memory->size / 8)};
    bool writes = memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    access.element = log2_bytes(memory->element_size);
    access.mask_count = 1;
    access.narrow = instruction->address_width == 32;
    find_address(&access, instruction, memory);
    access.kind = (uint8_t)find_kind(&access, instruction, operands, memory);
    if (access.kind == ACCESS_SCATTERED)
        find_indices(&access, instruction, operands, memory);
    access.enters = instruction->mnemonic == ZYDIS_MNEMONIC_ENTER;
    if (access.kind == ACCESS_STACK && writes)
        access.pushes = (int16_t)access.size;
    access.implicit =
        memory->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && access.kind != ACCESS_STACK;
    if (access.kind == ACCESS_STRING || access.kind == ACCESS_BIT)
        access.element = log2_bytes(memory->size);
    if (access.kind == ACCESS_BIT) {
        access.bit_register = register_number(operands[1].reg.value);
        if (access.bit_register != NO_REGISTER)
            access.registers |= (uint16_t)(1u << access.bit_register);
    }
    return access;
}

/* The operand is not described by Zydis. */
static const struct access line = {
    .kind = ACCESS_LINE,
    .implicit = true,
    .size = 64,
    .count = 1,
    .registers = REGISTER_RAX,
    .base = 0,
    .index = NO_REGISTER,
};

void find_accesses(struct decoded *decoded, const ZydisDecodedInstruction *instruction,
                   const ZydisDecodedOperand *operands) {
    if (instruction->mnemonic == ZYDIS_MNEMONIC_CLZERO)
        decoded->store = line;
    for (int i = 0; i < instruction->operand_count; i++) {
        const ZydisDecodedOperand *memory = &operands[i];
        if (memory->type != ZYDIS_OPERAND_TYPE_MEMORY || memory->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            continue;
        struct access access = describe(instruction, operands, memory);
        if (memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && decoded->store.kind == ACCESS_NONE)
            decoded->store = access;
        if (memory->actions & ZYDIS_OPERAND_ACTION_MASK_READ && decoded->load_count < LOADS_MAX)
            decoded->loads[decoded->load_count++] = access;
    }
}

static struct access_vector find_mask_vector(const struct access *access) {
    struct access_vector vector = {.number = access->mask};
    if (access->mask_kind == MASK_REGISTER)
        vector.size = access->kind == ACCESS_MASKED && access->mask_count > 16 ? 8 : 2;
    else
        vector.size = access->wide_mask ? 32 : 16;
    vector.legacy = access->mask_kind == MASK_BYTES;
    return vector;
}

unsigned vectors_of_access(const struct access *access,
                           struct access_vector found[ACCESS_VECTORS_MAX]) {
    unsigned count = 0;
    if (access->kind != ACCESS_MASKED && access->kind != ACCESS_SCATTERED)
        return 0;
    if (access->kind == ACCESS_SCATTERED) {
        unsigned size = access->count * (access->wide_indices ? 8u : 4u);
        size = size <= 16 ? 16 : size <= 32 ? 32 : 64;
        found[count++] = (struct access_vector){(uint8_t)size, access->index_vector, false};
    }
    found[count++] = find_mask_vector(access);
    return count;
}
