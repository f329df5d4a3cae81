/* calls.h: the instructions that keep a calling context tree, as text; see sequence.h. */
#ifndef QUIPU_X86_CALLS_H
#define QUIPU_X86_CALLS_H

#include "asm/frames.h"
#include "util/buffer.h"
#include "x86/decode.h"

/* A function of a compiler's begins.  Changes flags and %r11; and %rax, where RAX_FREE is set.
 * SHARED: the code is for shared objects. */
void write_enter(struct buffer *out, bool rax_free, bool shared);

/* Whether it takes nothing but its address from the stack, and nothing of the machine's state. */
bool is_near_return(const struct decoded *decoded);

/* It is about to return by a near return, which never runs. */
void write_return(struct buffer *out, bool shared);

/* It is about to jump to another function, or to return otherwise; R11_KEPT: by what is in %r11,
 * maybe. */
void write_leave(struct buffer *out, bool r11_kept, bool shared);

/* Control comes from elsewhere, to where the unwinder's row is FRAME.  Changes flags. */
void write_pad(struct buffer *out, const struct frame_row *frame);

/* The directives that the names of the runtime's functions need. */
void write_calls_symbols(struct buffer *out, bool shared);

#endif
