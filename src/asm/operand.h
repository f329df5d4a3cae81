/* operand.h: an instruction's operand in memory, as the text has it. */
#ifndef QUIPU_ASM_OPERAND_H
#define QUIPU_ASM_OPERAND_H

#include "asm/lex.h"
#include "asm/unit.h"

/* Finds the operand in memory of STATEMENT, an instruction that has one, without the segment, the
 * size ("DWORD PTR") and what decorates it ("{%k1}").  Returns false where none is found. */
bool find_memory_operand(const struct unit *unit, const struct statement *statement,
                         struct span *operand);

/* What stands in front of the registers of such an operand, in AT&T syntax: a number, or the symbol
 * with one, or nothing. */
struct span displacement_of(struct span operand);

/* Whether such an operand, in AT&T syntax, says no more than registers and a number. */
bool is_number_operand(struct span operand);

/* Finds the number, or the symbol with one, behind the '$' of STATEMENT, in AT&T syntax.  Returns
 * false where there is none. */
bool find_immediate_operand(const struct unit *unit, const struct statement *statement,
                            struct span *operand);

/* What stands behind the star of STATEMENT, an indirect call or jump in AT&T syntax; else empty. */
struct span find_indirect_operand(const struct unit *unit, const struct statement *statement);

/* The symbol whose slot in the global offset table such an operand is, as with -fno-plt; else
 * empty. */
struct span slot_symbol(struct span operand);

/* The name of what STATEMENT, a call or jump, leads to, directly or by such a slot; else empty. */
struct span find_callee_name(const struct unit *unit, const struct statement *statement);

#endif
