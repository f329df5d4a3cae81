/* respell.h: instructions that hand-written assembly has in numbers, in plain words. */
#ifndef QUIPU_ASM_RESPELL_H
#define QUIPU_ASM_RESPELL_H

#include "util/buffer.h"

/* Appends TEXT to OUT, with the same instructions, in other words: a label in the place of each
 * address that is told as the next instruction's, and mnemonics in that of numbers.  Returns false,
 * and leaves OUT as it is, where there is none, or where text may stand for several (macros). */
bool respell(const struct buffer *text, struct buffer *out);

#endif
