/* names.h: how decode.c has an instruction spelled.  Zydis's types: private to this folder. */
#ifndef QUIPU_X86_NAMES_H
#define QUIPU_X86_NAMES_H

#include "x86/decode.h"

#include <Zydis/Zydis.h>

struct spelling spell_instruction(const ZydisDecodedInstruction *instruction,
                                  const ZydisDecodedOperand *operands);

#endif
