/* names.h: what decode.c has others find out: how an instruction is spelled, how it stores. Zydis's
 * types: private to this folder. */
#ifndef QUIPU_X86_NAMES_H
#define QUIPU_X86_NAMES_H

#include "x86/decode.h"

#include <Zydis/Zydis.h>

struct spelling spell_instruction(const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operands);

/* names.c: gives the instruction that Zydis has printed to TEXT, of SIZE bytes, the name that
 * compilers write and objdump prints: jne for jnz, movzbl for movzxb, cltq for cdqe. */
void name_as_compilers(char *text, size_t size, const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands);

/* store.c: of gathers and scatters, MEMORY being their operand. */
unsigned element_count(const ZydisDecodedInstruction *instruction,
                       const ZydisDecodedOperand *operands, const ZydisDecodedOperand *memory);

/* store.c: how it writes memory, by the first operand that is written. */
struct store find_store(const ZydisDecodedInstruction *instruction,
                        const ZydisDecodedOperand *operands);

/* linear.c: by what it steps a register, or compares one. */
struct linear find_linear(const ZydisDecodedInstruction *instruction,
                          const ZydisDecodedOperand *operands);

/* transfer.c: how it moves addresses about. */
struct transfer find_transfer(const ZydisDecodedInstruction *instruction,
                              const ZydisDecodedOperand *operands);

#endif
