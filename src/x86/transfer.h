/* transfer.h: instructions that move addresses about: between registers, to the stack and back. */
#ifndef QUIPU_X86_TRANSFER_H
#define QUIPU_X86_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

enum transfer_kind {
    TRANSFER_NONE,
    TRANSFER_COPY,     /* reg = other */
    TRANSFER_ADD,      /* reg = base + displacement, or with an index besides */
    TRANSFER_LOAD,     /* reg = what is in memory */
    TRANSFER_STORE,    /* memory = reg */
    TRANSFER_EXCHANGE, /* both */
    TRANSFER_CHANGE,   /* memory is computed with, in place */
    TRANSFER_PUSH,     /* of reg, or of what is in memory */
    TRANSFER_POP,      /* to reg, or to memory */
    TRANSFER_LEAVE,    /* the stack pointer becomes the frame pointer, which is popped */
    TRANSFER_BRANCH    /* to what is in memory */
};

/* Registers as encoded, all of 64 bits, or NO_REGISTER. */
struct transfer {
    uint8_t kind;        /* enum transfer_kind */
    uint8_t reg, other;  /* NO_REGISTER: it is memory, or a number */
    uint8_t base, index; /* of the operand in memory, or of the sum */
    bool plain;          /* the operand is base and displacement alone, and no segment's */
    int64_t displacement;
};

#endif
