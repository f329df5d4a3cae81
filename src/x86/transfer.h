/* transfer.h: instructions that move addresses: between registers, to the stack and back. */
#ifndef QUIPU_X86_TRANSFER_H
#define QUIPU_X86_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

enum transfer_kind {
    TRANSFER_NONE,
    TRANSFER_COPY,     /* reg = other */
    TRANSFER_ADD,      /* reg = base + displacement, or with an index added */
    TRANSFER_LOAD,     /* reg = memory */
    TRANSFER_STORE,    /* memory = reg */
    TRANSFER_EXCHANGE, /* both */
    TRANSFER_CHANGE,   /* memory is changed in place */
    TRANSFER_PUSH,     /* of reg, or of memory */
    TRANSFER_POP,      /* to reg, or to memory */
    TRANSFER_LEAVE,    /* stack pointer = frame pointer, which is then popped */
    TRANSFER_BRANCH    /* to the address in memory */
};

/* Registers as encoded, all of 64 bits, or NO_REGISTER. */
struct transfer {
    uint8_t kind;        /* enum transfer_kind */
    uint8_t reg, other;  /* NO_REGISTER: memory, or a number */
    uint8_t base, index; /* of the operand in memory, or of the sum */
    bool plain;          /* the operand is only base and displacement, without a segment */
    int64_t displacement;
};

#endif
