/* store.h: how an instruction writes memory. */
#ifndef QUIPU_X86_STORE_H
#define QUIPU_X86_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_kind {
    STORE_NONE,
    STORE_PLAIN,   /* `size` bytes at one address */
    STORE_MASKED,  /* elements of a vector, those that a mask chooses */
    STORE_LINE,    /* clzero: the line of the cache that (%rax) is in */
    STORE_STRING,  /* %rcx elements at (%rdi) */
    STORE_SCATTER, /* elements at an address each */
    STORE_STATE,   /* xsave: as many bytes as the processor's state has */
    STORE_BIT,     /* of a string of bits; a register tells which, near the address or far */
    STORE_STACK,   /* below the stack pointer: push, call, enter */
};

/* Where the mask of STORE_MASKED and STORE_SCATTER is. */
enum mask_kind {
    MASK_REGISTER, /* the bits of %kN */
    MASK_SIGNS,    /* the signs of the elements of %ymmN, or of %xmmN */
    MASK_BYTES,    /* the signs of the bytes of %xmmN */
};

enum {
    NO_REGISTER = 0xff
};

struct store {
    uint8_t kind;            /* enum store_kind */
    uint8_t element;         /* log2 of bytes; of a string's, a mask's or a bit string's elements */
    uint8_t mask_kind, mask; /* N */
    bool wide_mask;          /* MASK_SIGNS: of %ymmN */
    bool compresses;         /* the chosen elements are written one behind the other */
    bool thread;             /* %fs leads the operand */
    bool segment;            /* %gs does */
    bool relative;           /* to the instruction pointer */
    bool absolute;           /* movabs: its address has 64 bits */
    bool implicit;           /* the operand is not written down, and is (%rdi) */
    uint8_t index_vector;    /* STORE_SCATTER: N of %zmmN */
    bool wide_indices;       /* ... of 64 bits each */
    uint8_t count;           /* ... elements */
    uint8_t bit_register;    /* STORE_BIT: that tells which bit, as it is encoded */
    uint16_t size;           /* bytes; of a string, one element's */
    uint16_t registers;      /* general ones that the address is made of, as a set */
    uint8_t base, index;     /* as encoded, or NO_REGISTER */
    uint8_t scale;
    bool enters;    /* STORE_STACK: enter, which pushes the frame pointer and goes further down */
    int16_t pushes; /* bytes that the stack pointer goes down */
    uint8_t pops;   /* bytes that the stack pointer goes up before the address is made */
    int64_t displacement;
};

/* Whether their addresses differ by their displacements alone, while no register is written. */
static inline bool is_same_base(const struct store *a, const struct store *b) {
    return a->base == b->base && a->index == b->index &&
           (a->index == NO_REGISTER || a->scale == b->scale);
}

/* store_check.c: whether the COUNT bytes at CODE begin with a check's question of the shadow. */
bool is_store_check(const uint8_t *code, size_t count);

#endif
