/* distances.h: code whose instructions must keep their distances from each other. */
#ifndef QUIPU_ASM_DISTANCES_H
#define QUIPU_ASM_DISTANCES_H

#include "asm/unit.h"

/* Whether the symbol is the label of an instruction, not of data between instructions. */
bool leads_to_code(const struct unit *unit, const struct symbol *symbol);

/* Marks functions into which nothing may be inserted, since hand-written code computes addresses
 * from distances in them, or reads their bytes.
 * requires: find_functions   makes: asm_function.left_alone */
void leave_distances(struct unit *unit);

#endif
