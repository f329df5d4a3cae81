/* frame_check.h: the instructions that tell, once a function's locals are watched, where it begins,
 * ends, and is come back to.
 *
 * AT&T syntax, joined by ';', on one line.  The contract with the runtime is format/watch.h,
 * section 2. */
#ifndef QUIPU_X86_FRAME_CHECK_H
#define QUIPU_X86_FRAME_CHECK_H

#include "x86/sequence.h"

enum frame_site {
    FRAME_BEGIN, /* the function has just been called */
    FRAME_END,   /* it is about to return, or to jump to another one */
    FRAME_BACK,  /* control comes from elsewhere */
};

/* What stands out of line behind .LQz LABEL, and goes on at .LQq LABEL (store_check.h, write_site);
 * where SHARED, behind .LQzf LABEL, and goes on at .LQz LABEL, the check of the same place.
 * FUNCTION is the label of the function's first byte; FRAME that of the place. */
void write_frame_stub(struct buffer *out, enum frame_site site, const char *function,
                      uint32_t label, bool shared, const struct frame_row *frame);

/* The row of the table of sites. */
void write_frame_row(struct buffer *out, enum frame_site site, const char *function, uint32_t label,
                     bool shared);

/* The row of a function that is hand-written: where it begins, and no more. */
void write_text_row(struct buffer *out, const char *function);

#endif
