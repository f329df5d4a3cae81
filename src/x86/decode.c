/* decode.c: what an instruction does, according to its bytes; see decode.h. */
#include "x86/names.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

static const ZydisDecoder *the_decoder(void) {
    static ZydisDecoder decoder;
    static bool ready;
    if (!ready) {
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        ready = true;
    }
    return &decoder;
}

/* Returns the bit of the general register that REGISTER is a part of, or 0 for other registers. */
static uint16_t register_bit(ZydisRegister reg) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return 0;
    return (uint16_t)(1u << (whole - ZYDIS_REGISTER_RAX));
}

/* Whether a write to REG that is always done replaces the whole register: a write of 32 or 64 bits
 * does. */
static bool writes_whole(ZydisRegister reg) {
    return ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) >= 32;
}

/* Whether it writes a number of at most 32 bits, extended by its sign to 64. */
static bool extends_sign(const ZydisDecodedInstruction *instruction,
                         const ZydisDecodedOperand *operands) {
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_CDQE:
        return instruction->operand_width == 64;
    case ZYDIS_MNEMONIC_MOV:
        return instruction->operand_width == 64 && instruction->raw.imm[0].size == 32 &&
               operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    default:
        return false;
    }
}

/* A conditional move of 32 bits clears the upper half even if it does not move. */
static void add_extension(struct decoded *decoded, const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *operands, int index) {
    const ZydisDecodedOperand *operand = &operands[index];
    bool always = operand->actions & ZYDIS_OPERAND_ACTION_WRITE ||
                  instruction->meta.category == ZYDIS_CATEGORY_CMOV;
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
        !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) || !always)
        return;
    unsigned width = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value);
    if (width == 32)
        decoded->zero_extended |= register_bit(operand->reg.value);
    else if (width == 64 && extends_sign(instruction, operands))
        decoded->sign_extended |= register_bit(operand->reg.value);
}

static void add_operand(struct decoded *decoded, const ZydisDecodedOperand *operand) {
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        decoded->registers_read |=
            register_bit(operand->mem.base) | register_bit(operand->mem.index);
        decoded->stores |= (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
        bool accesses = operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
        decoded->traps |= accesses && operand->mem.base != ZYDIS_REGISTER_RSP;
        if (accesses)
            decoded->addressing |=
                register_bit(operand->mem.base) | register_bit(operand->mem.index);
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
            decoded->registers_read |= bit; /* the unwritten part stays: it counts as read */
    }
}

/* Whether operands in memory are accessed. A prefetch may do nothing, a flush of a line reads no
 * value, and the operand of a no-operation only makes it longer. */
static bool touches_memory(const ZydisDecodedInstruction *instruction) {
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CLDEMOTE:
        return false;
    default:
        return instruction->mnemonic != ZYDIS_MNEMONIC_CLFLUSH &&
               instruction->mnemonic != ZYDIS_MNEMONIC_INVLPG;
    }
}

static bool is_float(ZydisElementType type) {
    return type == ZYDIS_ELEMENT_TYPE_FLOAT16 || type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
           type == ZYDIS_ELEMENT_TYPE_FLOAT64 || type == ZYDIS_ELEMENT_TYPE_FLOAT80;
}

static bool is_among(ZydisMnemonic mnemonic, const ZydisMnemonic *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (mnemonic == list[i])
            return true;
    return false;
}

#define IS_AMONG(mnemonic, list) is_among(mnemonic, list, sizeof(list) / sizeof *(list))

/* Moves that Zydis has in other categories: shuffles, which compilers use for integers, too, and
 * those of the x87. */
static const ZydisMnemonic shuffles[] = {
    ZYDIS_MNEMONIC_SHUFPS,        ZYDIS_MNEMONIC_SHUFPD,        ZYDIS_MNEMONIC_VSHUFPS,
    ZYDIS_MNEMONIC_VSHUFPD,       ZYDIS_MNEMONIC_UNPCKLPS,      ZYDIS_MNEMONIC_UNPCKLPD,
    ZYDIS_MNEMONIC_UNPCKHPS,      ZYDIS_MNEMONIC_UNPCKHPD,      ZYDIS_MNEMONIC_VUNPCKLPS,
    ZYDIS_MNEMONIC_VUNPCKLPD,     ZYDIS_MNEMONIC_VUNPCKHPS,     ZYDIS_MNEMONIC_VUNPCKHPD,
    ZYDIS_MNEMONIC_INSERTPS,      ZYDIS_MNEMONIC_VINSERTPS,     ZYDIS_MNEMONIC_EXTRACTPS,
    ZYDIS_MNEMONIC_VEXTRACTPS,    ZYDIS_MNEMONIC_BLENDPS,       ZYDIS_MNEMONIC_BLENDPD,
    ZYDIS_MNEMONIC_VBLENDPS,      ZYDIS_MNEMONIC_VBLENDPD,      ZYDIS_MNEMONIC_BLENDVPS,
    ZYDIS_MNEMONIC_BLENDVPD,      ZYDIS_MNEMONIC_VBLENDVPS,     ZYDIS_MNEMONIC_VBLENDVPD,
    ZYDIS_MNEMONIC_VBLENDMPS,     ZYDIS_MNEMONIC_VBLENDMPD,     ZYDIS_MNEMONIC_VPERMILPS,
    ZYDIS_MNEMONIC_VPERMILPD,     ZYDIS_MNEMONIC_VPERMPS,       ZYDIS_MNEMONIC_VPERMPD,
    ZYDIS_MNEMONIC_VPERM2F128,    ZYDIS_MNEMONIC_VPERMT2PS,     ZYDIS_MNEMONIC_VPERMT2PD,
    ZYDIS_MNEMONIC_VPERMI2PS,     ZYDIS_MNEMONIC_VPERMI2PD,     ZYDIS_MNEMONIC_VINSERTF128,
    ZYDIS_MNEMONIC_VINSERTF32X4,  ZYDIS_MNEMONIC_VINSERTF64X2,  ZYDIS_MNEMONIC_VINSERTF32X8,
    ZYDIS_MNEMONIC_VINSERTF64X4,  ZYDIS_MNEMONIC_VEXTRACTF128,  ZYDIS_MNEMONIC_VEXTRACTF32X4,
    ZYDIS_MNEMONIC_VEXTRACTF64X2, ZYDIS_MNEMONIC_VEXTRACTF32X8, ZYDIS_MNEMONIC_VEXTRACTF64X4,
    ZYDIS_MNEMONIC_VSHUFF32X4,    ZYDIS_MNEMONIC_VSHUFF64X2,    ZYDIS_MNEMONIC_MOVMSKPS,
    ZYDIS_MNEMONIC_MOVMSKPD,      ZYDIS_MNEMONIC_VMOVMSKPS,     ZYDIS_MNEMONIC_VMOVMSKPD,
    ZYDIS_MNEMONIC_VMASKMOVPS,    ZYDIS_MNEMONIC_VMASKMOVPD,    ZYDIS_MNEMONIC_VALIGND,
    ZYDIS_MNEMONIC_FLD,           ZYDIS_MNEMONIC_FST,           ZYDIS_MNEMONIC_FSTP,
    ZYDIS_MNEMONIC_FXCH,          ZYDIS_MNEMONIC_FFREE,         ZYDIS_MNEMONIC_FLD1,
    ZYDIS_MNEMONIC_FLDZ,          ZYDIS_MNEMONIC_FLDPI,         ZYDIS_MNEMONIC_FLDL2E,
    ZYDIS_MNEMONIC_FLDL2T,        ZYDIS_MNEMONIC_FLDLG2,        ZYDIS_MNEMONIC_FLDLN2,
    ZYDIS_MNEMONIC_FCMOVB,        ZYDIS_MNEMONIC_FCMOVBE,       ZYDIS_MNEMONIC_FCMOVE,
    ZYDIS_MNEMONIC_FCMOVNB,       ZYDIS_MNEMONIC_FCMOVNBE,      ZYDIS_MNEMONIC_FCMOVNE,
    ZYDIS_MNEMONIC_FCMOVNU,       ZYDIS_MNEMONIC_FCMOVU,
};

/* These use one element, in memory or in a general register. */
static const ZydisMnemonic element_moves[] = {
    ZYDIS_MNEMONIC_MOVD,      ZYDIS_MNEMONIC_MOVQ,      ZYDIS_MNEMONIC_VMOVD,
    ZYDIS_MNEMONIC_VMOVQ,     ZYDIS_MNEMONIC_PINSRB,    ZYDIS_MNEMONIC_PINSRW,
    ZYDIS_MNEMONIC_PINSRD,    ZYDIS_MNEMONIC_PINSRQ,    ZYDIS_MNEMONIC_VPINSRB,
    ZYDIS_MNEMONIC_VPINSRW,   ZYDIS_MNEMONIC_VPINSRD,   ZYDIS_MNEMONIC_VPINSRQ,
    ZYDIS_MNEMONIC_PEXTRB,    ZYDIS_MNEMONIC_PEXTRW,    ZYDIS_MNEMONIC_PEXTRD,
    ZYDIS_MNEMONIC_PEXTRQ,    ZYDIS_MNEMONIC_VPEXTRB,   ZYDIS_MNEMONIC_VPEXTRW,
    ZYDIS_MNEMONIC_VPEXTRD,   ZYDIS_MNEMONIC_VPEXTRQ,   ZYDIS_MNEMONIC_INSERTPS,
    ZYDIS_MNEMONIC_VINSERTPS, ZYDIS_MNEMONIC_EXTRACTPS, ZYDIS_MNEMONIC_VEXTRACTPS,
    ZYDIS_MNEMONIC_MOVLPD,    ZYDIS_MNEMONIC_MOVHPD,    ZYDIS_MNEMONIC_VMOVLPD,
    ZYDIS_MNEMONIC_VMOVHPD,
};

/* Whether it only moves numbers, without computing. */
static bool moves_only(const ZydisDecodedInstruction *instruction) {
    if (IS_AMONG(instruction->mnemonic, shuffles))
        return true;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_GATHER:
    case ZYDIS_CATEGORY_SCATTER:
    case ZYDIS_CATEGORY_COMPRESS:
    case ZYDIS_CATEGORY_EXPAND:
        return true;
    default:
        return false;
    }
}

/* addsd, cvtsi2ss, cvttss2si: by name, since the operands of vaddsd are whole registers. */
static bool is_scalar(const ZydisDecodedInstruction *instruction) {
    const char *name = ZydisMnemonicGetString(instruction->mnemonic);
    size_t length = name ? strlen(name) : 0;
    if (length < 4 || instruction->meta.category == ZYDIS_CATEGORY_BROADCAST)
        return false;
    const char *end = name + length - 2;
    return strcmp(end, "ss") == 0 || strcmp(end, "sd") == 0 || strcmp(end, "sh") == 0 ||
           strstr(name, "ss2") || strstr(name, "sd2") || strstr(name, "sh2");
}

static void find_arithmetic(struct decoded *decoded, const ZydisDecodedInstruction *instruction,
                            const ZydisDecodedOperand *operands) {
    bool in_vectors = false, floats = false;
    /* Zydis lists no floating point operand for fchs and similar instructions */
    for (int i = 0; i < instruction->operand_count; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            ZydisRegisterClass class = ZydisRegisterGetClass(operand->reg.value);
            in_vectors |= class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
                          class == ZYDIS_REGCLASS_ZMM || class == ZYDIS_REGCLASS_MMX ||
                          class == ZYDIS_REGCLASS_MASK;
        }
        floats |= is_float(operand->element_type);
    }
    decoded->floating = floats && !moves_only(instruction);
    decoded->vector = in_vectors && !(floats && is_scalar(instruction)) &&
                      !IS_AMONG(instruction->mnemonic, element_moves);
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

/* Whether the flags may keep their values: after a shift or rotation by 0, by %cl or a number, and
 * after a string comparison that repeats 0 times. */
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

/* Whether the result is independent of the old value: xor %eax,%eax. */
static bool is_clearing(const ZydisDecodedInstruction *instruction,
                        const ZydisDecodedOperand *operands) {
    return (instruction->mnemonic == ZYDIS_MNEMONIC_XOR ||
            instruction->mnemonic == ZYDIS_MNEMONIC_SUB) &&
           operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[0].reg.value == operands[1].reg.value && writes_whole(operands[0].reg.value);
}

/* add, sub, inc, dec and lea: instructions that count, or step through an array. */
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

/* Whether it leads to another stack: sets the stack pointer to a value that derives neither from
 * itself nor from the frame pointer. */
static bool switches_stack(const ZydisDecodedInstruction *instruction,
                           const ZydisDecodedOperand *operands) {
    bool sets = false;
    for (int i = 0; i < instruction->operand_count_visible; i++)
        sets |= operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                register_bit(operands[i].reg.value) == REGISTER_RSP &&
                operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (!sets)
        return false;
    const ZydisDecodedOperand *source = &operands[1];
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
        return false;
    case ZYDIS_MNEMONIC_LEA:
        return !(register_bit(source->mem.base) & (REGISTER_RSP | REGISTER_RBP));
    case ZYDIS_MNEMONIC_MOV:
        return source->type != ZYDIS_OPERAND_TYPE_REGISTER ||
               register_bit(source->reg.value) != REGISTER_RBP;
    default:
        return true;
    }
}

/* mov $symbol, %edi; lea symbol(%rip), %rdi. Returns the register's bit, or 0. */
static uint16_t find_address_to(const ZydisDecodedInstruction *instruction,
                                const ZydisDecodedOperand *operands) {
    bool names = false;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_MOV)
        names =
            operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && instruction->operand_width >= 32;
    else if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA)
        names = operands[1].mem.base == ZYDIS_REGISTER_RIP && instruction->operand_width == 64;
    return names && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER
               ? register_bit(operands[0].reg.value)
               : 0;
}

static enum turns find_turns(const ZydisDecodedInstruction *instruction) {
    bool string = instruction->meta.category == ZYDIS_CATEGORY_STRINGOP ||
                  instruction->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
    if (!string || instruction->address_width != 64)
        return TURNS_ONE;
    if (instruction->attributes & ZYDIS_ATTRIB_HAS_REP)
        return TURNS_ALL;
    return instruction->attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE) ? TURNS_SOME
                                                                                      : TURNS_ONE;
}

/* Returns the system call whose number the instruction puts into %rax. */
static enum asked_call find_asked(const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operands) {
    if (instruction->mnemonic != ZYDIS_MNEMONIC_MOV ||
        operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operands[0].reg.value) !=
            ZYDIS_REGISTER_RAX ||
        operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return ASKED_ANY;
    switch (operands[1].imm.value.u) {
    case SYS_rt_sigreturn:
        return ASKED_HANDLER_END;
    case SYS_exit:
        return ASKED_THREAD_END;
    default:
        return ASKED_ANY;
    }
}

/* Whether every processor has the instruction, and every program may use it. */
static bool is_everywhere(const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *operands) {
    static const ZydisISASet sets[] = {
        ZYDIS_ISA_SET_I86,  ZYDIS_ISA_SET_I186,    ZYDIS_ISA_SET_I386,  ZYDIS_ISA_SET_I486REAL,
        ZYDIS_ISA_SET_CMOV, ZYDIS_ISA_SET_FAT_NOP, ZYDIS_ISA_SET_PAUSE, ZYDIS_ISA_SET_LONGMODE,
        ZYDIS_ISA_SET_LAHF, ZYDIS_ISA_SET_CET,
    };
    static const ZydisInstructionCategory asking[] = {
        ZYDIS_CATEGORY_FLAGOP, ZYDIS_CATEGORY_INTERRUPT, ZYDIS_CATEGORY_IO,
        ZYDIS_CATEGORY_SEGOP,  ZYDIS_CATEGORY_SYSTEM,
    };
    bool known = false;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        known |= instruction->meta.isa_set == sets[i];
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
        known = known && instruction->meta.category != asking[i];
    for (int i = 0; i < instruction->operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
            ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_SEGMENT)
            return false;
    return known && !(instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED);
}

/* The kernel reads the number and the arguments of a system call, and returns the result (System V
 * ABI for x86-64, section A.2.1). By int and sysenter it may get any register. */
static void pass_kernel(struct decoded *decoded, ZydisMnemonic mnemonic) {
    if (mnemonic == ZYDIS_MNEMONIC_SYSCALL)
        decoded->registers_read |= REGISTER_RAX | REGISTER_RDI | REGISTER_RSI | REGISTER_RDX |
                                   REGISTER_R10 | REGISTER_R8 | REGISTER_R9;
    else if (mnemonic == ZYDIS_MNEMONIC_INT || mnemonic == ZYDIS_MNEMONIC_SYSENTER)
        decoded->registers_read |= REGISTERS_ALL;
    else
        return;
    decoded->registers_written |= REGISTER_RAX;
}

bool decode_instruction(const uint8_t *code, size_t count, struct decoded *decoded) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(the_decoder(), code, count, &instruction, operands)))
        return false;
    *decoded = (struct decoded){.size = instruction.length};
    for (int i = 0; i < instruction.operand_count; i++) {
        add_operand(decoded, &operands[i]);
        add_extension(decoded, &instruction, operands, i);
    }
    if (touches_memory(&instruction))
        find_accesses(decoded, &instruction, operands);
    find_arithmetic(decoded, &instruction, operands);
    decoded->atomic = (instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
                      (instruction.mnemonic == ZYDIS_MNEMONIC_XCHG && writes_memory(decoded));
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
    decoded->spelling = spell_instruction(&instruction, operands);
    pass_kernel(decoded, instruction.mnemonic);
    decoded->switches_stack = switches_stack(&instruction, operands);
    decoded->asks = find_asked(&instruction, operands);
    decoded->selects = instruction.meta.category == ZYDIS_CATEGORY_CMOV;
    decoded->aligns_stack = instruction.mnemonic == ZYDIS_MNEMONIC_AND &&
                            decoded->registers_written == REGISTER_RSP &&
                            operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    decoded->steps = adds_constant(&instruction, operands);
    decoded->traps |=
        instruction.mnemonic == ZYDIS_MNEMONIC_DIV || instruction.mnemonic == ZYDIS_MNEMONIC_IDIV;
    decoded->faults = decoded->traps || !is_everywhere(&instruction, operands);
    decoded->class = branch_class(&instruction, operands);
    decoded->condition = instruction.opcode & 0xf;
    decoded->linear = find_linear(&instruction, operands);
    decoded->transfer = find_transfer(&instruction, operands);
    decoded->computation = find_computation(&instruction, operands);
    if (!touches_memory(&instruction))
        decoded->addressing = 0;
    decoded->address_to = find_address_to(&instruction, operands);
    decoded->repeats = instruction.attributes &
                       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    decoded->turns = find_turns(&instruction);
    return true;
}

bool is_direct_call(const uint8_t *code, size_t count) {
    return count >= DIRECT_CALL_SIZE && *code == 0xe8;
}

bool is_no_operation(const struct decoded *decoded) {
    return decoded->spelling.mnemonic == ZYDIS_MNEMONIC_NOP;
}

bool is_filling(const struct decoded *decoded) {
    static const ZydisMnemonic fillings[] = {
        ZYDIS_MNEMONIC_NOP, ZYDIS_MNEMONIC_INT3,  ZYDIS_MNEMONIC_UD2,    ZYDIS_MNEMONIC_UD1,
        ZYDIS_MNEMONIC_HLT, ZYDIS_MNEMONIC_PAUSE, ZYDIS_MNEMONIC_LFENCE,
    };
    return IS_AMONG((ZydisMnemonic)decoded->spelling.mnemonic, fillings);
}

bool is_fence(const struct decoded *decoded) {
    return decoded->spelling.mnemonic == ZYDIS_MNEMONIC_MFENCE;
}

bool is_syscall(const struct decoded *decoded) {
    return decoded->spelling.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
}

void invert_conditional(uint8_t *code, size_t count) {
    /* 7x rel8 or 0F 8x rel32, behind prefixes: the lowest bit of x negates */
    bool near = count >= 6 && code[count - 6] == 0x0f;
    if (count >= 2)
        code[near ? count - 5 : count - 2] ^= 1;
}

/* ---- disassembly ---- */

/* A longer name is cut. Symbols have no maximum length. */
enum {
    NAME_MAX_SIZE = 1024
};

struct naming {
    name_address *name;
    void *context;
    size_t room; /* bytes that a name may have */
};

static ZydisFormatterFunc print_absolute;

static ZyanStatus print_text(ZydisFormatterBuffer *buffer, const char *text) {
    ZyanString *string;
    ZyanStringView view;
    ZYAN_CHECK(ZydisFormatterBufferAppend(buffer, ZYDIS_TOKEN_SYMBOL));
    ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &string));
    ZYAN_CHECK(ZyanStringViewInsideBuffer(&view, text));
    return ZyanStringAppend(string, &view);
}

/* Prints an address, such as a branch's target, by its name if it has one. A negative offset from a
 * segment's base is printed as such: "%fs:-0x18". */
static ZyanStatus print_target(const ZydisFormatter *formatter, ZydisFormatterBuffer *buffer,
                               ZydisFormatterContext *context) {
    const struct naming *naming = context->user_data;
    ZyanU64 address;
    char text[NAME_MAX_SIZE + sizeof "(%rip)"];
    if (naming->name &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(context->instruction, context->operand,
                                              context->runtime_address, &address)) &&
        naming->name(naming->context, address, text, naming->room)) {
        if (context->operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            snprintf(text + strlen(text), sizeof text - strlen(text), "(%%rip)");
        return print_text(buffer, text);
    }
    const ZydisDecodedOperand *operand = context->operand;
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base == ZYDIS_REGISTER_NONE &&
        operand->mem.disp.value < 0) {
        snprintf(text, sizeof text, "-0x%llx", -(unsigned long long)operand->mem.disp.value);
        return print_text(buffer, text);
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

/* AT&T syntax has a star before the operand of an indirect branch. Zydis prints none. */
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
    name_as_compilers(text, size, &instruction, operands);
    uint8_t class = branch_class(&instruction, operands);
    if (class == CLASS_JUMP_INDIRECT || class == CLASS_CALL_INDIRECT)
        mark_indirect(text, size);
    return true;
}

int64_t jump_distance(const uint8_t *code) {
    enum {
        SHORT_JUMP = 0xeb
    };
    int32_t distance;
    if (code[0] == SHORT_JUMP)
        return (int8_t)code[1];
    memcpy(&distance, code + 1, sizeof distance);
    return distance;
}
