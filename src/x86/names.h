/* names.h: the parts of decode.c that are in other files: spelling, stores, counters, transfers.
 * Uses Zydis's types, so it is private to this folder. */
#ifndef QUIPU_X86_NAMES_H
#define QUIPU_X86_NAMES_H

#include "x86/decode.h"

#include <Zydis/Zydis.h>

struct spelling spell_instruction(const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operands);

/* names.c: TEXT, of SIZE bytes, has the instruction as Zydis prints it. Gives it the name that
 * compilers write and objdump prints: jne for jnz, movzbl for movzxb, cltq for cdqe. */
void name_as_compilers(char *text, size_t size, const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands);

/* access.c: sets `store` and `loads` of DECODED, in which they are empty. */
void find_accesses(struct decoded *decoded, const ZydisDecodedInstruction *instruction,
                   const ZydisDecodedOperand *operands);

/* linear.c: how it steps or compares a register. */
struct linear find_linear(const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *operands);

/* computation.c: what register it computes. */
struct computation find_computation(const ZydisDecodedInstruction *instruction,
                                    const ZydisDecodedOperand *operands);

/* transfer.c: how it moves addresses. */
struct transfer find_transfer(const ZydisDecodedInstruction *instruction,
                              const ZydisDecodedOperand *operands);

#endif
