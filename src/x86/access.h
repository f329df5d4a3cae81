/* store.h: how an instruction writes memory. */
#ifndef QUIPU_X86_STORE_H
#define QUIPU_X86_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_kind {
    STORE_NONE,
    STORE_PLAIN,   /* `size` bytes at one address */
    STORE_MASKED,  /* the elements of a vector that a mask selects */
    STORE_LINE,    /* clzero: the cache line that contains (%rax) */
    STORE_STRING,  /* %rcx elements at (%rdi) */
    STORE_SCATTER, /* elements, each at an address of its own */
    STORE_STATE,   /* xsave: as many bytes as the processor's state has */
    STORE_BIT,     /* a bit of a bit string; a register has its number, so it may be far from the
                      address */
    STORE_STACK,   /* below the stack pointer: push, call, enter */
};

/* The mask of STORE_MASKED and STORE_SCATTER. */
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
    uint8_t element;         /* log2 of the bytes of an element of a string, vector or bit string */
    uint8_t mask_kind, mask; /* N */
    bool wide_mask;          /* MASK_SIGNS: of %ymmN */
    bool compresses;         /* the selected elements are written without gaps */
    bool thread;             /* the address is relative to %fs */
    bool segment;            /* ... or to %gs */
    bool relative;           /* ... or to the instruction pointer */
    bool absolute;           /* movabs: its address has 64 bits */
    bool implicit;           /* the text has no such operand: the address is in register `base` */
    uint8_t index_vector;    /* STORE_SCATTER: N of %zmmN */
    bool wide_indices;       /* ... which have 64 bits each */
    uint8_t count;           /* ... which has so many elements */
    uint8_t bit_register;    /* STORE_BIT: register with the bit's number, as encoded */
    uint16_t size;           /* bytes; of a string, those of one element */
    uint16_t registers;      /* the set of general registers in the address */
    uint8_t base, index;     /* as encoded, or NO_REGISTER */
    uint8_t scale;
    bool enters;    /* STORE_STACK: enter, which pushes the frame pointer and then moves the stack
                       pointer further */
    int16_t pushes; /* bytes by which the stack pointer decreases */
    uint8_t pops;   /* bytes by which the stack pointer increases before the address is computed */
    int64_t displacement;
};

/* Whether their addresses differ only by their displacements, while no register is written. */
static inline bool is_same_base(const struct store *a, const struct store *b) {
    return a->base == b->base && a->index == b->index &&
           (a->index == NO_REGISTER || a->scale == b->scale);
}

/* store_check.c: whether the COUNT bytes at CODE begin with a check's test of the shadow. */
bool is_store_check(const uint8_t *code, size_t count);

#endif
