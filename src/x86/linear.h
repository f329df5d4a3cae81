/* linear.h: instructions that step a register by a fixed amount, and those that compare one: the
 * parts of a loop's counter. */
#ifndef QUIPU_X86_LINEAR_H
#define QUIPU_X86_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

enum linear_kind {
    LINEAR_NONE,
    LINEAR_ADD,     /* reg += other, or += constant; add, sub, inc, dec, lea */
    LINEAR_COPY,    /* reg = other, of 64 bits, or of 32 that are extended; mov, movslq */
    LINEAR_COMPARE, /* the flags describe reg - other, or reg - constant; cmp, test */
};

struct linear {
    uint8_t kind;   /* enum linear_kind */
    uint8_t reg;    /* as encoded */
    uint8_t other;  /* or NO_REGISTER: use the constant */
    bool is_signed; /* COPY: extended by its sign */
    bool wide;      /* 64 bits; otherwise 32, and an addition clears the upper half */
    bool written;   /* the constant is in the text, where it may be a symbol's address */
    bool flags;     /* ADD: the flags, except carry, describe the sum */
    int64_t constant;
};

/* Conditions of jumps, as encoded. */
enum condition {
    CONDITION_BELOW = 2,
    CONDITION_NOT_EQUAL = 5,
    CONDITION_NOT_ABOVE = 6,
    CONDITION_LESS = 12,
    CONDITION_NOT_GREATER = 14,
};

/* Returns the condition for exchanged operands of the comparison. Only for conditions on the order
 * or on equality. */
static inline uint8_t mirrored_condition(uint8_t condition) {
    switch (condition & 0xe) {
    case 0x2: /* below, not below: above, not above */
    case 0x6:
    case 0xc:
    case 0xe:
        return condition ^ ((condition & 0x8) ? 0x3 : 0x5);
    default:
        return condition;
    }
}

#endif
