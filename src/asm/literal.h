/* literal.h: strings that stand in a unit's text, and that nobody writes. */
#ifndef QUIPU_ASM_LITERAL_H
#define QUIPU_ASM_LITERAL_H

#include "asm/unit.h"

/* Reads the string at SYMBOL into TEXT, its NUL included.  Returns false where the symbol is not
 * this unit's own, where the string is not read-only or not understood, and where it has more than
 * SIZE bytes. */
bool read_literal(const struct unit *unit, const struct symbol *symbol, char *text, size_t size);

#endif
