/* operand.h: finds the operands of an instruction in its text. */
#ifndef QUIPU_ASM_OPERAND_H
#define QUIPU_ASM_OPERAND_H

#include "asm/lex.h"
#include "asm/unit.h"

/* Finds the operand in memory of the instruction STATEMENT, without segment, size ("DWORD PTR") and
 * decorations ("{%k1}"). Returns false if there is none. */
bool find_memory_operand(const struct unit *unit, const struct statement *statement,
                         struct span *operand);

/* Returns the part before the registers of such an operand, in AT&T syntax: a number, or a symbol
 * with a number, or nothing. */
struct span displacement_of(struct span operand);

/* Whether such an operand, in AT&T syntax, has only registers and a number. */
bool is_number_operand(struct span operand);

/* Finds the number, or the symbol with a number, behind the '$' of STATEMENT, in AT&T syntax.
 * Returns false if there is none. */
bool find_immediate_operand(const struct unit *unit, const struct statement *statement,
                            struct span *operand);

/* Returns the text behind the star of STATEMENT, an indirect call or jump in AT&T syntax. Otherwise
 * returns an empty span. */
struct span find_indirect_operand(const struct unit *unit, const struct statement *statement);

/* Returns the symbol whose slot in the global offset table is such an operand, as with -fno-plt.
 * Otherwise returns an empty span. */
struct span slot_symbol(struct span operand);

/* Returns the name of the callee of STATEMENT, a call or jump, directly or through such a slot.
 * Otherwise returns an empty span. */
struct span find_callee_name(const struct unit *unit, const struct statement *statement);

#endif
