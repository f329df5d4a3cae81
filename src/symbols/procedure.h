/* procedure.h: Fortran's procedures by the names that the source has. */
#ifndef QUIPU_SYMBOLS_PROCEDURE_H
#define QUIPU_SYMBOLS_PROCEDURE_H

#include "symbols/binary.h"

struct procedure {
    const char *symbol;
    uint64_t address; /* of its first byte, as linked; 0: all its calls are inlined */
};

typedef VECTOR(struct procedure) procedure_list;

/* Adds the procedures of BINARY with the name NAME, and their copies. Upper and lower case are the
 * same. Examples: "hybrd" for the symbol hybrd_, "mod::proc" and "proc" for __mod_MOD_proc, and a
 * main program by its name. All data are in ARENA. */
void find_procedures(struct arena *arena, const struct binary *binary, const char *name,
                     procedure_list *procedures);

#endif
