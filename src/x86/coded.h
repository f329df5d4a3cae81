/* coded.h: instructions that hand-written assembly has in bytes, for assemblers that do not know
 * them: ".byte 0xf3,0xc3". */
#ifndef QUIPU_X86_CODED_H
#define QUIPU_X86_CODED_H

#include "asm/unit.h"
#include "x86/decode.h"

/* Takes data directives for the instructions that they are: those of one instruction, where the
 * processor comes for certain.  All others stay data.  What may store, or has prefixes alone, is
 * taken with STORES: stores are checked by their text.  Between parse_unit and find_functions. */
void find_coded_instructions(struct unit *unit, bool stores);

/* Whether it is endbr64, where indirect branches land, however it is written. */
bool is_landing_mark(const struct decoded *decoded);
/* The same of a statement, by its text. */
bool is_written_landing_mark(const struct unit *unit, const struct statement *statement);

#endif
