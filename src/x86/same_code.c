/* same_code.c: compares an instruction of two binaries; see same_code.h.
 *
 * The bytes are compared, without those that hold an address. What linkers replace is in the System
 * V ABI for x86-64, "Optimize GOTPCRELX Relocations".
 *
 * Not perfect: a number of 32 bits that is no address, but looks like one in both binaries, may
 * differ. */
#include "x86/same_code.h"

#include <Zydis/Zydis.h>
#include <string.h>

enum {
    INSTRUCTION_MAX = 15,
    MODRM_RIP = 5 /* with mod 0: the operand is relative to the instruction */
};

/* An instruction, its bytes without addresses, and which numbers are taken for addresses. */
struct reading {
    ZydisDecodedInstruction instruction;
    uint8_t bytes[INSTRUCTION_MAX];
};

static bool read_code(const struct placed_code *placed, struct reading *reading) {
    static ZydisDecoder decoder;
    static bool ready;
    if (!ready) {
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        ready = true;
    }
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, placed->code, placed->count,
                                                    &reading->instruction)))
        return false;
    memset(reading->bytes, 0, sizeof reading->bytes);
    memcpy(reading->bytes, placed->code, reading->instruction.length);
    return true;
}

static bool is_relative(const ZydisDecodedInstruction *instruction) {
    return instruction->raw.modrm.mod == 0 && instruction->raw.modrm.rm == MODRM_RIP &&
           instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM && instruction->raw.disp.size == 32;
}

static bool is_direct_branch(const ZydisDecodedInstruction *instruction) {
    return instruction->raw.imm[0].is_relative;
}

/* Whether a number of SIZE bits in the code can be an address. */
static bool can_be_address(const struct code_addresses *addresses, int64_t number, unsigned size) {
    int64_t length = (int64_t)(addresses->end - addresses->begin);
    int64_t threads = (int64_t)addresses->thread_size;
    if (size < 32)
        return false;
    if (threads && number >= -threads && number <= threads)
        return true;
    if (size == 64 && number >= -length && number <= length) /* a distance of the large model */
        return true;
    return addresses->fixed && (uint64_t)number - addresses->begin <= (uint64_t)length;
}

static void clear(struct reading *reading, unsigned offset, unsigned bits) {
    memset(reading->bytes + offset, 0, bits / 8);
}

/* Clears a number of SIZE bits at OFFSET in both, if it can be an address in both. */
static void clear_address(struct reading readings[2], const struct placed_code *const placed[2],
                          const int64_t numbers[2], unsigned offset, unsigned size) {
    if (numbers[0] == numbers[1] || !can_be_address(placed[0]->addresses, numbers[0], size) ||
        !can_be_address(placed[1]->addresses, numbers[1], size))
        return;
    clear(&readings[0], offset, size);
    clear(&readings[1], offset, size);
}

/* Clears what may differ. The two have the same size. */
static void clear_addresses(struct reading readings[2], const struct placed_code *const placed[2]) {
    const ZydisDecodedInstruction *a = &readings[0].instruction, *b = &readings[1].instruction;
    if (is_relative(a) && is_relative(b)) {
        clear(&readings[0], a->raw.disp.offset, a->raw.disp.size);
        clear(&readings[1], b->raw.disp.offset, b->raw.disp.size);
    } else if (a->raw.disp.size == b->raw.disp.size && a->raw.disp.offset == b->raw.disp.offset) {
        const int64_t numbers[2] = {a->raw.disp.value, b->raw.disp.value};
        clear_address(readings, placed, numbers, a->raw.disp.offset, a->raw.disp.size);
    }
    if (a->raw.imm[0].size == b->raw.imm[0].size && a->raw.imm[0].offset == b->raw.imm[0].offset) {
        const int64_t numbers[2] = {a->raw.imm[0].value.s, b->raw.imm[0].value.s};
        clear_address(readings, placed, numbers, a->raw.imm[0].offset, a->raw.imm[0].size);
    }
}

/* Conditions are neighbours of their inverses in the order of encoding. */
static bool is_inverse(const ZydisDecodedInstruction *a, const ZydisDecodedInstruction *b) {
    return a->meta.category == ZYDIS_CATEGORY_COND_BR &&
           b->meta.category == ZYDIS_CATEGORY_COND_BR && is_direct_branch(a) &&
           is_direct_branch(b) && (a->opcode & 0xf) == ((b->opcode & 0xf) ^ 1) &&
           ((a->opcode & 0xf0) == 0x70 || (a->opcode & 0xf0) == 0x80) &&
           ((b->opcode & 0xf0) == 0x70 || (b->opcode & 0xf0) == 0x80);
}

/* Whether the linker makes REPLACED of LOADS, which uses the global offset table. */
static bool is_replaced(const ZydisDecodedInstruction *loads,
                        const ZydisDecodedInstruction *replaced) {
    static const struct {
        ZydisMnemonic loads, replaced;
        bool direct; /* a branch; otherwise the address of the same register */
    } rows[] = {
        {ZYDIS_MNEMONIC_CALL, ZYDIS_MNEMONIC_CALL, true},
        {ZYDIS_MNEMONIC_JMP, ZYDIS_MNEMONIC_JMP, true},
        {ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_LEA, false},
    };
    for (size_t i = 0; is_relative(loads) && i < sizeof rows / sizeof *rows; i++) {
        if (loads->mnemonic != rows[i].loads || replaced->mnemonic != rows[i].replaced)
            continue;
        if (rows[i].direct
                ? is_direct_branch(replaced)
                : is_relative(replaced) && loads->raw.modrm.reg == replaced->raw.modrm.reg &&
                      loads->raw.rex.R == replaced->raw.rex.R)
            return true;
    }
    return false;
}

bool is_same_instruction(const struct placed_code *a, const struct placed_code *b, bool turns,
                         uint8_t sizes[2]) {
    const struct placed_code *const placed[2] = {a, b};
    struct reading readings[2];
    sizes[0] = sizes[1] = 0;
    if (!read_code(a, &readings[0]) || !read_code(b, &readings[1]))
        return false;
    const ZydisDecodedInstruction *left = &readings[0].instruction,
                                  *right = &readings[1].instruction;
    sizes[0] = left->length;
    sizes[1] = right->length;
    if (is_direct_branch(left) && is_direct_branch(right))
        return left->mnemonic == right->mnemonic || (turns && is_inverse(left, right));
    if (is_replaced(left, right) || is_replaced(right, left))
        return true;
    if (left->length != right->length)
        return false;
    clear_addresses(readings, placed);
    return memcmp(readings[0].bytes, readings[1].bytes, left->length) == 0;
}
