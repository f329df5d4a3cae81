/* literal.h: constant strings in a unit's text. */
#ifndef QUIPU_ASM_LITERAL_H
#define QUIPU_ASM_LITERAL_H

#include "asm/unit.h"

/* Reads the string at SYMBOL into TEXT, with its NUL. Returns false if the symbol is not this
 * unit's own, if the string is not read-only or not understood, or if it has more than SIZE bytes.
 */
bool read_literal(const struct unit *unit, const struct symbol *symbol, char *text, size_t size);

#endif
