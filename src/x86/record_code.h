/* record_code.h: the registers of a program in the code of a record (trace_record.h). */
#ifndef QUIPU_X86_RECORD_CODE_H
#define QUIPU_X86_RECORD_CODE_H

#include "x86/decode.h"

/* A thread in the code of a record, behind its call of quipu_trace_full. */
struct record_code_state {
    uint64_t address; /* of the next instruction */
    uint16_t known;   /* registers whose values are known */
    uint64_t registers[GENERAL_REGISTERS];
    const uint8_t *stack; /* what is in memory from the address STACK_BEGIN on */
    uint64_t stack_begin;
    size_t stack_size;
};

/* Follows one instruction, of the SIZE bytes at CODE. Returns false if it is none that a record's
 * code has behind that call. */
bool follow_record_code(struct record_code_state *state, const uint8_t *code, size_t size);

#endif
