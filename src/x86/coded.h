/* coded.h: instructions that hand-written assembly contains as bytes, for assemblers that do not
 * know them: ".byte 0xf3,0xc3". */
#ifndef QUIPU_X86_CODED_H
#define QUIPU_X86_CODED_H

#include "asm/unit.h"
#include "x86/decode.h"

/* Makes a data directive an instruction if it contains exactly one, and the processor certainly
 * executes it there. All others stay data. Instructions that may store, and prefixes alone, are
 * only taken with STORES: checks of stores need their text. Runs between parse_unit and
 * find_functions. */
void find_coded_instructions(struct unit *unit, bool stores);

/* Whether it is endbr64, the target of indirect branches, in any spelling. */
bool is_landing_mark(const struct decoded *decoded);
/* The same for a statement, by its text. */
bool is_written_landing_mark(const struct unit *unit, const struct statement *statement);

#endif
