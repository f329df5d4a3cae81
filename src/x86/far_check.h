/* far_check.h: the instructions before a loop that test whether all that it will write is far from
 * all regions, or behind them in the direction of its stores (format/watch.h, section 2).
 *
 * AT&T syntax, joined by ';', on one line. They change %r11 and the flags. */
#ifndef QUIPU_X86_FAR_CHECK_H
#define QUIPU_X86_FAR_CHECK_H

#include "asm/lex.h"
#include "x86/sequence.h"

#include <stdint.h>

enum {
    FAR_STEP_MAX = 4096 /* bytes per step of an address */
};

enum far_direction {
    FAR_UP,     /* nothing is written below the address ... */
    FAR_DOWN,   /* ... or above the store at it ... */
    FAR_EITHER, /* ... or further below it than 32 bits times a scale can reach */
};

/* An address: DISPLACEMENT, or SYMBOL if it is not empty, plus registers that are not
 * NO_REGISTER. */
struct far_check {
    enum far_direction direction;
    uint8_t base, index, scale;
    int64_t displacement;
    struct span symbol;
};

/* Jumps to the label NEAR if the loop may write to a region. */
void write_far_check(struct buffer *out, const struct far_check *check, const char *near);

/* Jumps to the label NEAR if the register is not positive, or above FAR_STEP_MAX. */
void write_far_step(struct buffer *out, uint8_t reg, const char *near);

#endif
