/* call_check.h: for watched memory, the instructions around a call of code that may have no checks.
 *
 * AT&T syntax, joined by ';', on one line. Section 2 of format/watch.h is the contract with the
 * runtime. */
#ifndef QUIPU_X86_CALL_CHECK_H
#define QUIPU_X86_CALL_CHECK_H

#include "asm/lex.h"
#include "x86/sequence.h"

/* A call, or a jump that ends a function. */
struct checked_call {
    uint32_t callee;   /* row of format/watch_callees.h; 0: unknown */
    uint32_t question; /* address of the byte that is tested before the call */
    /* address of the byte that is tested behind a `compared` call */
    uint32_t behind;
    /* address of the byte that is not 0 if the begin must be reported, for a call after which all
     * regions may be compared; otherwise 0 */
    uint32_t begins;
    uint32_t site; /* `size` of its row in .quipu.sites; 0: the text has the query */
    uint8_t size;  /* of the call in bytes */
    /* the row's three extents, if they limit all its ranges before the call; or NULL */
    const uint32_t *quick;
    bool looks;    /* code tests the format, to decide whether the row is right */
    bool indirect; /* through a pointer: the text tests whether the callee is in this module */
    /* a direct call, after which all regions may be compared; its begin is reported only if a byte
     * requests it */
    bool compared;
    /* `compared`, but only if the byte at `behind` is not 0; otherwise, if the begin was reported,
     * the ranges are reported */
    bool within;
    struct span symbol; /* the callee's name; empty if `operand` has its address */
    struct span operand;
    bool register_free; /* %r11 may be changed */
    struct frame_row frame;
};

/* The instructions before the call, and directly behind it. LABEL names both and their code out of
 * line. They change flags, and before an `indirect` call %r11. If the call has a site they are
 * no-operations, except before an `indirect` call. */
void write_call_check(struct buffer *out, const struct checked_call *call, bool returns,
                      uint32_t label);
void write_return_check(struct buffer *out, const struct checked_call *call, uint32_t label);

/* The row of .quipu.sites for a call that has a site. RETURNS: a no-operation is behind the
 * call. */
void write_call_row(struct buffer *out, const struct checked_call *call, bool returns,
                    uint32_t label);

/* The row for the check of the return address that a call in FUNCTION stores. The no-operation
 * before the call leads to it while the stack is watched. An indirect call has no such
 * no-operation: its row only states that the call stores. */
void write_call_store_row(struct buffer *out, const struct checked_call *call, const char *function,
                          uint32_t label);

/* The code out of line for both. */
void write_call_stubs(struct buffer *out, const struct checked_call *call, uint32_t label);

/* The same around an instruction that enters the kernel. They change no register, no flag, and
 * nothing in the red zone. */
void write_system_checks(struct buffer *before, struct buffer *behind,
                         const struct frame_row *frame, uint32_t label);
void write_system_stubs(struct buffer *out, const struct frame_row *frame, uint32_t label);

/* The code out of line for a jump that ends a function. write_call_check, written before the jump,
 * leads here. This code calls the callee, and returns to the function's caller. */
void write_tail_stub(struct buffer *out, const struct checked_call *call, uint32_t label);

/* The same if the arguments that the callee expects on the stack are unknown: the code only reports
 * the jump. */
void write_leaving_stub(struct buffer *out, const struct checked_call *call, uint32_t label);

#endif
