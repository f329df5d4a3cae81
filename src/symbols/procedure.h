/* procedure.h: Fortran's procedures by the names that their source has. */
#ifndef QUIPU_SYMBOLS_PROCEDURE_H
#define QUIPU_SYMBOLS_PROCEDURE_H

#include "symbols/binary.h"

struct procedure {
    const char *symbol;
    uint64_t address; /* of its first byte, as linked; 0: it is only inlined */
};

typedef VECTOR(struct procedure) procedure_list;

/* Adds those of BINARY that are called NAME, in upper or lower case: "hybrd" for the symbol
 * hybrd_, "mod::proc" and "proc" for __mod_MOD_proc, a main program by its name; copies, too.  All
 * lies in ARENA. */
void find_procedures(struct arena *arena, const struct binary *binary, const char *name,
                     procedure_list *procedures);

#endif
