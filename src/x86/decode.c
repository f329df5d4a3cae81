/* decode.c: what an instruction does, told by its bytes; see decode.h.  Zydis ends here. */
#include "x86/decode.h"

#include <Zydis/Zydis.h>

#include <stdio.h>
#include <string.h>

static const ZydisDecoder *the_decoder(void) {
    static ZydisDecoder decoder;
    static bool ready;
    if (!ready) {
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        ready = true;
    }
    return &decoder;
}

/* The bit of the general register that REGISTER is a part of; 0 where it is of another kind. */
static uint16_t register_bit(ZydisRegister reg) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return 0;
    return (uint16_t)(1u << (whole - ZYDIS_REGISTER_RAX));
}

/* Writing 32 or 64 bits of a register, always, leaves nothing of what was there. */
static bool writes_whole(ZydisRegister reg) {
    return ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) >= 32;
}

static void add_operand(struct decoded *decoded, const ZydisDecodedOperand *operand) {
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        decoded->registers_read |=
            register_bit(operand->mem.base) | register_bit(operand->mem.index);
        decoded->stores |= (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
        return;
    }
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return;
    uint16_t bit = register_bit(operand->reg.value);
    bool always = operand->actions & ZYDIS_OPERAND_ACTION_WRITE;
    if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        decoded->registers_read |= bit;
    if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
        decoded->registers_written |= bit;
        if (always && writes_whole(operand->reg.value))
            decoded->registers_killed |= bit;
        else
            decoded->registers_read |= bit; /* what is not written stays: it is as good as read */
    }
}

static uint8_t flag_set(ZyanU32 flags) {
    static const struct {
        ZyanU32 theirs;
        uint8_t ours;
    } names[] = {
        {ZYDIS_CPUFLAG_CF, FLAG_CARRY},  {ZYDIS_CPUFLAG_PF, FLAG_PARITY},
        {ZYDIS_CPUFLAG_AF, FLAG_ADJUST}, {ZYDIS_CPUFLAG_ZF, FLAG_ZERO},
        {ZYDIS_CPUFLAG_SF, FLAG_SIGN},   {ZYDIS_CPUFLAG_OF, FLAG_OVERFLOW},
    };
    uint8_t set = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (flags & names[i].theirs)
            set |= names[i].ours;
    return set;
}

/* A shift or rotation by %cl that is zero leaves the flags as they were: not surely written. */
static bool may_leave_flags(const ZydisDecodedInstruction *instruction,
                            const ZydisDecodedOperand *operands) {
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
        for (int i = 0; i < instruction->operand_count; i++) {
            if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                operands[i].reg.value == ZYDIS_REGISTER_CL)
                return true;
            if (operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                (operands[i].imm.value.u & 0x3f) == 0)
                return true;
        }
        return false;
    default:
        return instruction->attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    }
}

static uint8_t branch_class(const ZydisDecodedInstruction *instruction,
                            const ZydisDecodedOperand *operands) {
    bool direct = operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
    case ZYDIS_MNEMONIC_JCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
    case ZYDIS_MNEMONIC_JRCXZ:
        return CLASS_CONDITIONAL_NEAR;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
        return CLASS_STOP;
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
        return CLASS_SYSTEM;
    case ZYDIS_MNEMONIC_XBEGIN:
        return CLASS_TRANSACTION;
    default:
        break;
    }
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return CLASS_CONDITIONAL;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return direct ? CLASS_JUMP : CLASS_JUMP_INDIRECT;
    case ZYDIS_CATEGORY_CALL:
        return direct ? CLASS_CALL : CLASS_CALL_INDIRECT;
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSRET:
        return CLASS_RETURN;
    default:
        return CLASS_PLAIN;
    }
}

/* xor %eax,%eax: the result does not depend on what was there. */
static bool is_clearing(const ZydisDecodedInstruction *instruction,
                        const ZydisDecodedOperand *operands) {
    return (instruction->mnemonic == ZYDIS_MNEMONIC_XOR ||
            instruction->mnemonic == ZYDIS_MNEMONIC_SUB) &&
           operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[0].reg.value == operands[1].reg.value && writes_whole(operands[0].reg.value);
}

/* add, sub, inc, dec and lea: what counts, or walks an array. */
static bool adds_constant(const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *operands) {
    if (operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return false;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return true;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        return operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    case ZYDIS_MNEMONIC_LEA:
        return operands[1].mem.base == operands[0].reg.value &&
               operands[1].mem.index == ZYDIS_REGISTER_NONE;
    default:
        return false;
    }
}

bool decode_instruction(const uint8_t *code, size_t count, struct decoded *decoded) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(the_decoder(), code, count, &instruction, operands)))
        return false;
    *decoded = (struct decoded){.size = instruction.length};
    for (int i = 0; i < instruction.operand_count; i++)
        add_operand(decoded, &operands[i]);
    const ZydisAccessedFlags *flags = instruction.cpu_flags;
    if (flags) {
        decoded->flags_read = flag_set(flags->tested);
        decoded->flags_written =
            flag_set(flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
        if (may_leave_flags(&instruction, operands))
            decoded->flags_written = 0;
    }
    if (instruction.meta.category == ZYDIS_CATEGORY_STRINGOP ||
        instruction.meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
        decoded->registers_written |= decoded->registers_read & (REGISTER_RSI | REGISTER_RDI);
    if (is_clearing(&instruction, operands))
        decoded->registers_read &= (uint16_t)~decoded->registers_killed;
    decoded->steps = adds_constant(&instruction, operands);
    decoded->class = branch_class(&instruction, operands);
    decoded->repeats = instruction.attributes &
                       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    return true;
}

void invert_conditional(uint8_t *code, size_t count) {
    /* 7x rel8 or 0F 8x rel32, prefixes in front: the lowest bit of x negates */
    bool near = count >= 6 && code[count - 6] == 0x0f;
    if (count >= 2)
        code[near ? count - 5 : count - 2] ^= 1;
}

/* ---- disassembly ---- */

/* A longer name is cut: symbols may be as long as they like. */
enum {
    NAME_MAX_SIZE = 1024
};

struct naming {
    name_address *name;
    void *context;
    size_t room; /* bytes that a name may take */
};

static ZydisFormatterFunc print_absolute;

/* Prints the target of a branch by its name where it has one. */
static ZyanStatus print_target(const ZydisFormatter *formatter, ZydisFormatterBuffer *buffer,
                               ZydisFormatterContext *context) {
    const struct naming *naming = context->user_data;
    ZyanU64 address;
    char text[NAME_MAX_SIZE + sizeof "(%rip)"];
    if (naming->name &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(context->instruction, context->operand,
                                              context->runtime_address, &address)) &&
        naming->name(naming->context, address, text, naming->room)) {
        ZyanString *string;
        ZYAN_CHECK(ZydisFormatterBufferAppend(buffer, ZYDIS_TOKEN_SYMBOL));
        ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &string));
        ZyanStringView view;
        if (context->operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            snprintf(text + strlen(text), sizeof text - strlen(text), "(%%rip)");
        ZYAN_CHECK(ZyanStringViewInsideBuffer(&view, text));
        return ZyanStringAppend(string, &view);
    }
    return print_absolute(formatter, buffer, context);
}

static const ZydisFormatter *the_formatter(void) {
    static ZydisFormatter formatter;
    static bool ready;
    if (!ready) {
        ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
        ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
        ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
                                  ZYDIS_PADDING_DISABLED);
        ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
                                  ZYDIS_PADDING_DISABLED);
        print_absolute = print_target;
        ZydisFormatterSetHook(&formatter, ZYDIS_FORMATTER_FUNC_PRINT_ADDRESS_ABS,
                              (const void **)&print_absolute);
        ready = true;
    }
    return &formatter;
}

/* AT&T writes a star before the operand of an indirect branch; Zydis does not. */
static void mark_indirect(char *text, size_t size) {
    char *end = strchr(text, '('), *operand = NULL;
    for (char *c = text; *c && c != end; c++)
        if (*c == ' ')
            operand = c + 1;
    size_t length = strlen(text);
    if (!operand || length + 2 > size)
        return;
    memmove(operand + 1, operand, length + 1 - (size_t)(operand - text));
    *operand = '*';
}

bool disassemble_instruction(const uint8_t *code, size_t count, uint64_t address, char *text,
                             size_t size, name_address *name, void *context) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(the_decoder(), code, count, &instruction, operands)))
        return false;
    struct naming naming = {name, context, size > 2 * NAME_MAX_SIZE ? NAME_MAX_SIZE : size / 2};
    if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(the_formatter(), &instruction, operands,
                                                      instruction.operand_count_visible, text, size,
                                                      address, &naming)))
        return false;
    uint8_t class = branch_class(&instruction, operands);
    if (class == CLASS_JUMP_INDIRECT || class == CLASS_CALL_INDIRECT)
        mark_indirect(text, size);
    return true;
}
