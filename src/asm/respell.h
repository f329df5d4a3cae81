/* respell.h: what hand-written assembly has in numbers or in capital letters, in plain words. */
#ifndef QUIPU_ASM_RESPELL_H
#define QUIPU_ASM_RESPELL_H

#include "util/buffer.h"

/* Appends TEXT to OUT, with the same instructions, in other words: directives and registers in
 * small letters; and, but where text may stand for several (macros), a label in the place of each
 * address that is told as the next instruction's, and mnemonics in that of numbers.  Returns false,
 * and leaves OUT as it is, where there is nothing to change. */
bool respell(const struct buffer *text, struct buffer *out);

#endif
