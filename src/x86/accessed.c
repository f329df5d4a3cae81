/* operand.c: the address to which an instruction has stored; see operand.h.
 *
 * The address is computed from the registers behind the instruction. So the instruction must not
 * have changed the registers in its address. A push stores at the new stack pointer, so that may
 * change. */
#include "x86/operand.h"

#include <Zydis/Zydis.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

static const size_t places[] = {
    offsetof(struct user_regs_struct, rax), offsetof(struct user_regs_struct, rcx),
    offsetof(struct user_regs_struct, rdx), offsetof(struct user_regs_struct, rbx),
    offsetof(struct user_regs_struct, rsp), offsetof(struct user_regs_struct, rbp),
    offsetof(struct user_regs_struct, rsi), offsetof(struct user_regs_struct, rdi),
    offsetof(struct user_regs_struct, r8),  offsetof(struct user_regs_struct, r9),
    offsetof(struct user_regs_struct, r10), offsetof(struct user_regs_struct, r11),
    offsetof(struct user_regs_struct, r12), offsetof(struct user_regs_struct, r13),
    offsetof(struct user_regs_struct, r14), offsetof(struct user_regs_struct, r15),
};

struct instruction {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t next; /* address behind it */
    struct user_regs_struct registers;
};

static bool changes(const struct instruction *instruction, ZydisRegister reg) {
    for (int i = 0; i < instruction->decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) == reg)
            return true;
    }
    return false;
}

static bool register_value(const struct instruction *instruction, ZydisRegister reg, bool is_hidden,
                           uint64_t *value) {
    *value = 0;
    if (reg == ZYDIS_REGISTER_NONE)
        return true;
    *value = instruction->next;
    if (reg == ZYDIS_REGISTER_RIP)
        return true;
    if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15 ||
        (changes(instruction, reg) && !is_hidden))
        return false;
    memcpy(value, (const char *)&instruction->registers + places[reg - ZYDIS_REGISTER_RAX],
           sizeof *value);
    return true;
}

/* Implicit operands belong to a push or a string instruction. The latter has changed its
 * address. */
static bool operand_address(const struct instruction *instruction,
                            const ZydisDecodedOperand *operand, uint64_t *address) {
    uint64_t base, index;
    bool pushes = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                  operand->mem.base == ZYDIS_REGISTER_RSP;
    if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
        !register_value(instruction, operand->mem.base, pushes, &base) ||
        !register_value(instruction, operand->mem.index, false, &index))
        return false;
    *address = base + index * operand->mem.scale;
    if (operand->mem.disp.has_displacement && !pushes)
        *address += (uint64_t)operand->mem.disp.value;
    if (operand->mem.segment == ZYDIS_REGISTER_FS)
        *address += instruction->registers.fs_base;
    else if (operand->mem.segment == ZYDIS_REGISTER_GS)
        *address += instruction->registers.gs_base;
    return true;
}

bool stored_range(const uint8_t *code, size_t count, uint64_t address, pid_t thread,
                  uint64_t *begin, uint64_t *end) {
    struct instruction instruction;
    ZydisDecoder decoder;
    int found = 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, count, &instruction.decoded,
                                             instruction.operands)) ||
        ptrace(PTRACE_GETREGS, thread, NULL, &instruction.registers) != 0)
        return false;
    instruction.next = address + instruction.decoded.length;
    for (int i = 0; i < instruction.decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction.operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
            !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        if (!operand_address(&instruction, operand, begin))
            return false;
        *end = *begin + operand->size / 8;
        found++;
    }
    return found == 1;
}
