/* call_check.h: the instructions around a call of what may not be instrumented, for watched memory.
 *
 * AT&T syntax, joined by ';', on one line.  The contract with the runtime is format/watch.h,
 * section 2. */
#ifndef QUIPU_X86_CALL_CHECK_H
#define QUIPU_X86_CALL_CHECK_H

#include "asm/lex.h"
#include "x86/sequence.h"

/* A call, or a jump that is the last of a function. */
struct checked_call {
    uint32_t callee;   /* row of format/watch_callees.h; 0: not known */
    uint32_t question; /* address of the byte that is asked in front */
    uint32_t behind;   /* and behind, where it is compared */
    uint32_t begins; /* of the byte by which the begin must be told of what may be compared; or 0 */
    uint32_t site;   /* what its row in .quipu.sites has for size; 0: it asks in the text */
    uint8_t size;    /* of the call, bytes */
    const uint32_t *quick; /* the row's three extents, where they tell in front how far all of its
                              ranges can go; or NULL */
    bool looks;            /* the row's format is to be looked at, whether the row holds */
    bool indirect;         /* through a pointer: the text asks whose the callee is */
    bool compared;         /* called directly, and all is compared at its return: its begin is told
                              but where asked for */
    bool within;           /* compared, but where `behind` is 0, and the begin was told: then the
                              ranges are */
    struct span symbol;    /* the callee's name; of no length where it is told by an operand */
    struct span operand;
    bool register_free; /* %r11 may be changed */
    struct frame_row frame;
};

/* In front of the call, and right behind it; LABEL names both and their code out of line.  Flags
 * are changed.  Where the call has a site both are no-operations. */
void write_call_check(struct buffer *out, const struct checked_call *call, bool returns,
                      uint32_t label);
void write_return_check(struct buffer *out, const struct checked_call *call, uint32_t label);

/* The row of .quipu.sites of a call that has one; RETURNS: it has a no-operation behind it. */
void write_call_row(struct buffer *out, const struct checked_call *call, bool returns,
                    uint32_t label);

/* The row of what the same place in front of a call in FUNCTION leads to where the stack is
 * watched; of an indirect call, which has no such place, it only tells that the call stores. */
void write_call_store_row(struct buffer *out, const struct checked_call *call, const char *function,
                          uint32_t label);

/* What these two lead to. */
void write_call_stubs(struct buffer *out, const struct checked_call *call, uint32_t label);

/* The same around an instruction that enters the kernel: nothing at all is changed, nor is the red
 * zone. */
void write_system_checks(struct buffer *before, struct buffer *behind,
                         const struct frame_row *frame, uint32_t label);
void write_system_stubs(struct buffer *out, const struct frame_row *frame, uint32_t label);

/* In front of a jump that ends a function: write_call_check leads here, where the callee is called
 * and returned from. */
void write_tail_stub(struct buffer *out, const struct checked_call *call, uint32_t label);

/* The same where nobody knows what the callee finds on the stack: it is only told of. */
void write_leaving_stub(struct buffer *out, const struct checked_call *call, uint32_t label);

#endif
