/* calls.h: the instructions that keep a calling context tree, as text; see sequence.h. */
#ifndef QUIPU_X86_CALLS_H
#define QUIPU_X86_CALLS_H

#include "asm/frames.h"
#include "util/buffer.h"
#include "x86/decode.h"
#include "x86/sequence.h"

/* At the begin of a compiled function. Changes flags and %r11, and %rax if RAX_FREE. SHARED: the
 * code is for shared objects. */
void write_enter(struct buffer *out, bool rax_free, bool shared);

/* Whether it is a return that only pops its address: it changes no other state and no more of the
 * stack. */
bool is_near_return(const struct decoded *decoded);

/* Before a near return, which is then never executed: the runtime returns. */
void write_return(struct buffer *out, bool shared);

/* Before a jump to another function, or before another kind of return. R11_KEPT: %r11 may contain
 * the target. */
void write_leave(struct buffer *out, bool r11_kept, bool shared);

/* At a point where control arrives from elsewhere. FRAME is the unwinder's row there. Changes
 * flags. */
void write_pad(struct buffer *out, const struct frame_row *frame);
/* The same behind a call: only if functions below were left without passing their ends. Changes
 * flags and %r11. */
void write_returned(struct buffer *out, const struct code_context *context,
                    const struct frame_row *frame, bool shared);
/* The same at the end of a hand-written function. Keeps flags. */
void write_arrival(struct buffer *out, const struct frame_row *frame);

/* The directives for the names of the runtime's functions. */
void write_calls_symbols(struct buffer *out, bool shared);

#endif
