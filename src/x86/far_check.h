/* far_check.h: the instructions that tell, in front of a loop, that what it will write lies far
 * from all that is watched, or behind it the way that it goes (format/watch.h, section 2).
 *
 * AT&T syntax, joined by ';', on one line.  They change %r11 and the flags. */
#ifndef QUIPU_X86_FAR_CHECK_H
#define QUIPU_X86_FAR_CHECK_H

#include "asm/lex.h"
#include "x86/sequence.h"

#include <stdint.h>

enum {
    FAR_STEP_MAX = 4096 /* bytes, that an address goes at a time */
};

enum far_way {
    FAR_UP,     /* nothing is written in front of the address ... */
    FAR_DOWN,   /* ... or behind it ... */
    FAR_EITHER, /* ... or further in front than 32 bits times a scale are */
};

/* An address: DISPLACEMENT, or SYMBOL if that has a length, and registers or NO_REGISTER. */
struct far_check {
    enum far_way way;
    uint8_t base, index, scale;
    int64_t displacement;
    struct span symbol;
};

/* Goes to the label NEAR where that may not be so. */
void write_far_check(struct buffer *out, const struct far_check *check, const char *near);

/* Goes to the label NEAR where the register is not positive, or above FAR_STEP_MAX. */
void write_far_step(struct buffer *out, uint8_t reg, const char *near);

#endif
