/* distances.h: code whose instructions must stay where they are, as seen from each other. */
#ifndef QUIPU_ASM_DISTANCES_H
#define QUIPU_ASM_DISTANCES_H

#include "asm/unit.h"

/* Whether the label leads to an instruction, and not to data in between. */
bool leads_to_code(const struct unit *unit, const struct symbol *symbol);

/* Marks functions in which nothing may be inserted, since what a person wrote computes addresses
 * from distances in them, or reads their bytes.
 * requires: find_functions   makes: asm_function.left_alone */
void leave_distances(struct unit *unit);

#endif
