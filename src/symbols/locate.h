/* locate.h: the location of a variable, from its debug information. */
#ifndef QUIPU_SYMBOLS_LOCATE_H
#define QUIPU_SYMBOLS_LOCATE_H

#include "symbols/variables.h"

/* Sets the address of VARIABLE, or the cause why it has none. DIE is its entry, and it will be the
 * last of VARIABLES. FUNCTION contains it; NULL: no function does. */
void locate_variable(const struct variables *variables, struct variable *variable, Dwarf_Die *die,
                     Dwarf_Die *function);

#endif
