/* access.h: how an instruction reads and writes memory: each operand's address, size, and what of
 * it is accessed. */
#ifndef QUIPU_X86_ACCESS_H
#define QUIPU_X86_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum access_kind {
    ACCESS_NONE,
    ACCESS_PLAIN,     /* `size` bytes at one address */
    ACCESS_MASKED,    /* the elements of a vector that a mask selects */
    ACCESS_LINE,      /* clzero: the cache line that contains (%rax) */
    ACCESS_STRING,    /* of an instruction that repeats: up to %rcx elements at (%rdi) or (%rsi) */
    ACCESS_SCATTERED, /* elements, each at an address of its own: gather, scatter */
    ACCESS_STATE,     /* xsave, xrstor: as many bytes as the processor's state has */
    ACCESS_BIT,       /* a bit of a bit string; a register has its number, so it may be far from the
                         address */
    ACCESS_BYTE,      /* xlat: the index is %al */
    ACCESS_STACK, /* written below the stack pointer: push, call, enter; read at the address that
                     `base` has: pop, ret, leave */
};

/* The mask of ACCESS_MASKED and ACCESS_SCATTERED. */
enum mask_kind {
    MASK_REGISTER, /* the bits of %kN */
    MASK_SIGNS,    /* the signs of the elements of %ymmN, or of %xmmN */
    MASK_BYTES,    /* the signs of the bytes of %xmmN */
};

enum {
    NO_REGISTER = 0xff
};

struct access {
    uint8_t kind;            /* enum access_kind */
    uint8_t element;         /* log2 of the bytes of an element of a string, vector or bit string */
    uint8_t mask_kind, mask; /* N */
    bool wide_mask;          /* MASK_SIGNS: of %ymmN */
    uint8_t mask_count;   /* MASK_REGISTER: bits; a broadcast has more than elements, and uses each
                             element again */
    bool compresses;      /* the selected elements are in memory without gaps */
    bool thread;          /* the address is relative to %fs */
    bool segment;         /* ... or to %gs */
    bool relative;        /* ... or to the instruction pointer */
    bool narrow;          /* the address is cut to 32 bits */
    bool absolute;        /* movabs: its address has 64 bits */
    bool implicit;        /* the text has no such operand: the address is in register `base` */
    uint8_t index_vector; /* ACCESS_SCATTERED: N of %zmmN */
    bool wide_indices;    /* ... which have 64 bits each */
    uint8_t count;        /* ... which has so many elements; of other kinds 1 */
    uint8_t bit_register; /* ACCESS_BIT: register with the bit's number, as encoded */
    uint16_t size;        /* bytes; of a string, and of scattered elements, those of one */
    uint16_t registers;   /* the set of general registers in the address */
    uint8_t base, index;  /* as encoded, or NO_REGISTER */
    uint8_t scale;
    bool enters;    /* ACCESS_STACK: enter, which pushes the frame pointer and then moves the stack
                       pointer further */
    int16_t pushes; /* bytes by which the stack pointer decreases */
    uint8_t pops;   /* bytes by which the stack pointer increases before the address is computed */
    int64_t displacement;
};

/* A vector register %zmmN or a mask register %kN, N = `number`, and how many of its bytes an
 * instruction uses: 16, 32 or 64 of a vector, 2 or 8 of a mask. */
struct access_vector {
    uint8_t size, number;
    bool legacy; /* the instruction is of SSE: others would need AVX */
};

enum {
    ACCESS_VECTORS_MAX = 2
};

/* Finds the vectors that the parts of memory which ACCESS accesses depend on: of ACCESS_SCATTERED
 * first the vector of indices, then the mask. Returns their number. */
unsigned vectors_of_access(const struct access *access,
                           struct access_vector found[ACCESS_VECTORS_MAX]);

/* Returns the bytes of ACCESS. For a mask, gather or scatter, all elements count. For a string
 * instruction that repeats, one turn counts. */
static inline int32_t accessed_bytes(const struct access *access) {
    return access->size * access->count;
}

/* Whether their addresses differ only by their displacements, while no register is written. */
static inline bool is_same_base(const struct access *a, const struct access *b) {
    return a->base == b->base && a->index == b->index &&
           (a->index == NO_REGISTER || a->scale == b->scale);
}

/* store_check.c: whether the COUNT bytes at CODE begin with a check's test of the shadow. */
bool is_store_check(const uint8_t *code, size_t count);

#endif
