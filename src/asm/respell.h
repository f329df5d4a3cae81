/* respell.h: rewrites hand-written assembly that uses numbers or capital letters. */
#ifndef QUIPU_ASM_RESPELL_H
#define QUIPU_ASM_RESPELL_H

#include "util/buffer.h"

/* Appends TEXT to OUT, with the same instructions in another form. Directives and registers get
 * small letters. An address that is given relative to the next instruction becomes a label, and
 * instructions that are given as numbers become mnemonics, unless the text may be repeated
 * (macros). Returns false, with OUT unchanged, if there is nothing to rewrite. */
bool respell(const struct buffer *text, struct buffer *out);

#endif
