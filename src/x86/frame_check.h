/* frame_check.h: while a function's locals are watched, the instructions that report its begin, its
 * ends, and points at which control comes back to it.
 *
 * AT&T syntax, joined by ';', on one line. Section 2 of format/watch.h is the contract with the
 * runtime. */
#ifndef QUIPU_X86_FRAME_CHECK_H
#define QUIPU_X86_FRAME_CHECK_H

#include "x86/sequence.h"

enum frame_site {
    FRAME_BEGIN, /* the function has just been called */
    FRAME_END,   /* it is about to return, or to jump to another function */
    FRAME_FREED, /* the same, but its frame is about to be freed first */
    FRAME_BACK,  /* control comes from elsewhere */
};

/* The code out of line behind .LQz LABEL, which continues at .LQq LABEL (store_check.h,
 * write_site). If SHARED, it is behind .LQzf LABEL and continues at .LQz LABEL, the check that uses
 * the same no-operation. FUNCTION is the label of the function's first byte. FRAME is the
 * unwinder's row at the site. */
void write_frame_stub(struct buffer *out, enum frame_site site, const char *function,
                      uint32_t label, bool shared, const struct frame_row *frame);

/* Whether code where FRAME applies can compute the canonical frame address, as FRAME_FREED does. */
bool has_frame_address(const struct frame_row *frame);

/* The row in the table of sites. */
void write_frame_row(struct buffer *out, enum frame_site site, const char *function, uint32_t label,
                     bool shared);

/* The row for the code of a fragment. */
void write_code_row(struct buffer *out, uint32_t function, size_t fragment, bool is_main);

#endif
