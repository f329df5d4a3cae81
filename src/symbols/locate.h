/* locate.h: where a variable is, as its debug information tells. */
#ifndef QUIPU_SYMBOLS_LOCATE_H
#define QUIPU_SYMBOLS_LOCATE_H

#include "symbols/variables.h"

/* Sets the address of VARIABLE, whose entry is DIE and which will be the last of VARIABLES, or the
 * cause that it has none.  It is in FUNCTION; NULL: in none. */
void locate_variable(const struct variables *variables, struct variable *variable, Dwarf_Die *die,
                     Dwarf_Die *function);

#endif
