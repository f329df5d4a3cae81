/* names.c: the names of instructions in objdump and in assembly.
 *
 * Zydis uses the names of Intel's manuals. This file converts them to those of AT&T syntax:
 * conditions as compilers write them (jne, not jnz), movzbl for movzx, and the letter of the
 * operands' size.
 *
 * Not perfect: a comparison whose predicate is part of the name (cmpltsd, vcmpeqps) gets the name
 * with the predicate as an operand (cmpsd, vcmpps). The same is true of pclmulqdq. Prefixes other
 * than lock and rep are not shown. */
#include "x86/names.h"

#include <stdio.h>
#include <string.h>

/* For one byte, two, four, eight. */
static char size_letter(unsigned bits) {
    static const char letters[] = {[1] = 'b', [2] = 'w', [4] = 'l', [8] = 'q'};
    return bits / 8 < sizeof letters ? letters[bits / 8] : '\0';
}

static bool is_vector_register(const ZydisDecodedOperand *operand) {
    static const ZydisRegisterClass classes[] = {ZYDIS_REGCLASS_XMM, ZYDIS_REGCLASS_YMM,
                                                 ZYDIS_REGCLASS_ZMM, ZYDIS_REGCLASS_MMX,
                                                 ZYDIS_REGCLASS_MASK};
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return false;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (ZydisRegisterGetClass(operand->reg.value) == classes[i])
            return true;
    return false;
}

static bool is_general(const ZydisDecodedOperand *operand) {
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        return true;
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) >=
               ZYDIS_REGISTER_RAX &&
           ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) <=
               ZYDIS_REGISTER_R15;
}

/* Whether the operand in memory has a special size and form, and the name has no size letter. */
static bool is_unsized(ZydisMnemonic mnemonic) {
    static const uint16_t mnemonics[] = {
        ZYDIS_MNEMONIC_CMPXCHG8B, ZYDIS_MNEMONIC_CMPXCHG16B, ZYDIS_MNEMONIC_FXSAVE,
        ZYDIS_MNEMONIC_FXSAVE64,  ZYDIS_MNEMONIC_FXRSTOR,    ZYDIS_MNEMONIC_FXRSTOR64,
        ZYDIS_MNEMONIC_XSAVE,     ZYDIS_MNEMONIC_XSAVE64,    ZYDIS_MNEMONIC_XSAVEC,
        ZYDIS_MNEMONIC_XSAVEC64,  ZYDIS_MNEMONIC_XSAVEOPT,   ZYDIS_MNEMONIC_XSAVEOPT64,
        ZYDIS_MNEMONIC_XSAVES,    ZYDIS_MNEMONIC_XSAVES64,   ZYDIS_MNEMONIC_XRSTOR,
        ZYDIS_MNEMONIC_XRSTOR64,  ZYDIS_MNEMONIC_XRSTORS,    ZYDIS_MNEMONIC_XRSTORS64,
        ZYDIS_MNEMONIC_LDMXCSR,   ZYDIS_MNEMONIC_STMXCSR,    ZYDIS_MNEMONIC_VLDMXCSR,
        ZYDIS_MNEMONIC_VSTMXCSR,  ZYDIS_MNEMONIC_CLFLUSH,    ZYDIS_MNEMONIC_CLFLUSHOPT,
        ZYDIS_MNEMONIC_CLWB,      ZYDIS_MNEMONIC_CLDEMOTE,   ZYDIS_MNEMONIC_MOVDIR64B,
        ZYDIS_MNEMONIC_ENQCMD,    ZYDIS_MNEMONIC_ENQCMDS,    ZYDIS_MNEMONIC_FBLD,
        ZYDIS_MNEMONIC_FBSTP,     ZYDIS_MNEMONIC_SGDT,       ZYDIS_MNEMONIC_LGDT,
        ZYDIS_MNEMONIC_SIDT,      ZYDIS_MNEMONIC_LIDT,       ZYDIS_MNEMONIC_SLDT,
        ZYDIS_MNEMONIC_LLDT,      ZYDIS_MNEMONIC_STR,        ZYDIS_MNEMONIC_LTR,
        ZYDIS_MNEMONIC_SMSW,      ZYDIS_MNEMONIC_LMSW,       ZYDIS_MNEMONIC_VERR,
        ZYDIS_MNEMONIC_VERW,      ZYDIS_MNEMONIC_INVLPG,
    };
    for (size_t i = 0; i < sizeof mnemonics / sizeof *mnemonics; i++)
        if (mnemonics[i] == mnemonic)
            return true;
    return false;
}

/* Floating point: s, l, t; integers of the x87: s, l, ll. */
static void spell_x87(struct spelling *spelling, const ZydisDecodedOperand *operand) {
    bool integer = operand->element_type == ZYDIS_ELEMENT_TYPE_INT;
    const char *size = operand->size == 80              ? "t"
                       : operand->size == 64            ? integer ? "ll" : "l"
                       : operand->size == 32 && integer ? "l"
                       : operand->size == 32            ? "s"
                       : operand->size == 16 && integer ? "s"
                                                        : "";
    memcpy(spelling->size, size, strlen(size) + 1);
}

static void spell_size(struct spelling *spelling, const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands) {
    bool vector = false, general = false;
    if (is_unsized(instruction->mnemonic))
        return;
    for (int i = 0; i < instruction->operand_count_visible; i++) {
        vector |= is_vector_register(&operands[i]);
        general |= is_general(&operands[i]);
    }
    const char *name = ZydisMnemonicGetString(instruction->mnemonic);
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_X87_ALU:
        for (int i = 0; i < instruction->operand_count_visible; i++)
            if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
                spell_x87(spelling, &operands[i]);
        return;
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_PREFETCH:
        return;
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP:
        general = true;
        break;
    case ZYDIS_CATEGORY_CONVERT:
        general = strstr(name, "si2s") != NULL;
        vector = false;
        break;
    default:
        break;
    }
    if (general && !vector)
        spelling->size[0] = size_letter(instruction->operand_width);
    if (instruction->mnemonic ==
        ZYDIS_MNEMONIC_CRC32) /* the checksum's register does not show it */
        spelling->size[0] = size_letter(operands[1].size);
}

/* The name of a move that extends contains the letters of both sizes. */
static void spell_extension(struct spelling *spelling, const ZydisDecodedOperand *operands) {
    spelling->sized = true;
    spelling->size[0] = size_letter(operands[1].size);
    spelling->size[1] = size_letter(operands[0].size);
}

/* If an x87 register other than the first one is written, AT&T syntax exchanges the names of
 * subtraction and reverse subtraction, and those of the divisions. Assemblers keep this old
 * error. */
static ZydisMnemonic att_mnemonic(const ZydisDecodedInstruction *instruction) {
    static const uint16_t pairs[][2] = {
        {ZYDIS_MNEMONIC_FSUB, ZYDIS_MNEMONIC_FSUBR},
        {ZYDIS_MNEMONIC_FSUBP, ZYDIS_MNEMONIC_FSUBRP},
        {ZYDIS_MNEMONIC_FDIV, ZYDIS_MNEMONIC_FDIVR},
        {ZYDIS_MNEMONIC_FDIVP, ZYDIS_MNEMONIC_FDIVRP},
    };
    bool writes_other = (instruction->opcode == 0xdc || instruction->opcode == 0xde) &&
                        instruction->raw.modrm.mod == 3;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && writes_other; i++)
        for (int side = 0; side < 2; side++)
            if (pairs[i][side] == instruction->mnemonic)
                return (ZydisMnemonic)pairs[i][!side];
    return instruction->mnemonic;
}

static const char *const prefixes[] = {"", "lock ", "rep ", "repz ", "repnz "};

struct spelling spell_instruction(const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operands) {
    static const ZydisInstructionAttributes attributes[] = {[1] = ZYDIS_ATTRIB_HAS_LOCK,
                                                            ZYDIS_ATTRIB_HAS_REP,
                                                            ZYDIS_ATTRIB_HAS_REPE,
                                                            ZYDIS_ATTRIB_HAS_REPNE};
    struct spelling spelling = {.mnemonic = (uint16_t)att_mnemonic(instruction)};
    for (size_t i = 1; i < sizeof attributes / sizeof *attributes; i++)
        if (instruction->attributes & attributes[i])
            spelling.prefix = (uint8_t)i;
    spelling.string = instruction->meta.category == ZYDIS_CATEGORY_STRINGOP ||
                      instruction->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
    spelling.wide = instruction->mnemonic == ZYDIS_MNEMONIC_MOV &&
                    (instruction->raw.imm[0].size == 64 || instruction->raw.disp.size == 64);
    spell_size(&spelling, instruction, operands);
    if (instruction->mnemonic == ZYDIS_MNEMONIC_MOVSX ||
        instruction->mnemonic == ZYDIS_MNEMONIC_MOVSXD ||
        instruction->mnemonic == ZYDIS_MNEMONIC_MOVZX)
        spell_extension(&spelling, operands);
    return spelling;
}

/* ---- from Intel's names to those of AT&T syntax ---- */

static const struct {
    const char *intel, *att;
} names[] =
    {
        {"cbw", "cbtw"},    {"cwde", "cwtl"},  {"cdqe", "cltq"},    {"cwd", "cwtd"},
        {"cdq", "cltd"},    {"cqo", "cqto"},   {"pushfq", "pushf"}, {"popfq", "popf"},
        {"movsxd", "movs"}, {"movsx", "movs"}, {"movzx", "movz"},
},
  conditions[] = {
      {"nb", "ae"}, {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"}, {"nz", "ne"}, {"z", "e"},
};
static const char *const conditional[] = {"j", "set", "cmov"};

static void write_stem(const struct spelling *spelling, char *stem, size_t size) {
    const char *intel = ZydisMnemonicGetString((ZydisMnemonic)spelling->mnemonic);
    snprintf(stem, size, "%s", spelling->wide ? "movabs" : intel ? intel : "");
    if (spelling->string && *stem)
        stem[strlen(stem) - 1] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(stem, names[i].intel) == 0)
            snprintf(stem, size, "%s", names[i].att);
    for (size_t c = 0; c < sizeof conditional / sizeof *conditional; c++) {
        size_t length = strlen(conditional[c]);
        if (strncmp(stem, conditional[c], length) != 0)
            continue;
        for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
            if (strcmp(stem + length, conditions[i].intel) == 0) {
                snprintf(stem + length, size - length, "%s", conditions[i].att);
                return;
            }
    }
}

/* Whether OPERAND is a register that shows the size of the operand in memory. The count of a shift
 * does not. */
static bool tells_size(const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operand) {
    bool shifts = instruction->meta.category == ZYDIS_CATEGORY_SHIFT ||
                  instruction->meta.category == ZYDIS_CATEGORY_ROTATE;
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           size_letter(operand->size) == size_letter(instruction->operand_width) &&
           ZydisRegisterGetClass(operand->reg.value) != ZYDIS_REGCLASS_XMM &&
           !(shifts && operand->reg.value == ZYDIS_REGISTER_CL);
}

/* Whether only the name can show the size of the operand in memory: no operand is a general
 * register of that size. */
static bool needs_size(const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands) {
    bool memory = false;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_CRC32)
        return operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
    for (int i = 0; i < instruction->operand_count_visible; i++) {
        memory |= operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
        if (tells_size(instruction, &operands[i]))
            return false;
    }
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_UNCOND_BR:
        return false;
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP:
        return instruction->operand_width == 16;
    default:
        return memory;
    }
}

void name_as_compilers(char *text, size_t size, const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands) {
    struct spelling spelling = spell_instruction(instruction, operands);
    const char *printed = ZydisMnemonicGetString(instruction->mnemonic);
    char stem[INSTRUCTION_NAME_MAX / 2], name[INSTRUCTION_NAME_MAX];
    if (!printed || spelling.string)
        return;
    write_stem(&spelling, stem, sizeof stem);
    bool sized = spelling.sized || needs_size(instruction, operands);
    snprintf(name, sizeof name, "%s%s", stem, sized ? spelling.size : "");
    char *word = text;
    while (word && strncmp(word, printed, strlen(printed)) != 0) {
        word = strchr(word, ' ');
        word += word != NULL;
    }
    if (!word)
        return;
    char *end = word + strcspn(word, " ");
    size_t rest = strlen(end) + 1, length = strlen(name);
    if ((size_t)(word - text) + length + rest > size)
        return;
    memmove(word + length, end, rest);
    memcpy(word, name, length);
}

struct instruction_names instruction_names(const struct decoded *decoded) {
    const struct spelling *spelling = &decoded->spelling;
    struct instruction_names found = {0};
    char stem[INSTRUCTION_NAME_MAX / 2];
    write_stem(spelling, stem, sizeof stem);
    for (int prefix = 0; prefix < (spelling->prefix ? 2 : 1); prefix++)
        for (int size = spelling->sized; size < (spelling->size[0] ? 2 : 1); size++)
            snprintf(found.of[found.count++], INSTRUCTION_NAME_MAX, "%s%s%s",
                     prefix ? prefixes[spelling->prefix] : "", stem, size ? spelling->size : "");
    return found;
}
