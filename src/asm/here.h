/* here.h: `lea 0(%rip), %rax` has a label behind it. */
#ifndef QUIPU_ASM_HERE_H
#define QUIPU_ASM_HERE_H

#include "util/buffer.h"

/* Appends TEXT to OUT, with a label in the place of each address that is told as the next
 * instruction's.  Returns false, and leaves OUT as it is, where there is none, or where text may
 * stand for several (macros). */
bool label_next_instructions(const struct buffer *text, struct buffer *out);

#endif
