/* computation.h: general registers that an instruction computes from general registers and numbers,
 * so that whoever knows those before it knows the result. */
#ifndef QUIPU_X86_COMPUTATION_H
#define QUIPU_X86_COMPUTATION_H

#include <stdbool.h>
#include <stdint.h>

struct decoded;

enum computation_kind {
    COMPUTES_NOTHING,    /* or something that is not described here */
    COMPUTES_SUM,        /* a + b * scale + constant */
    COMPUTES_DIFFERENCE, /* a - b */
    COMPUTES_AND,        /* a & (b or constant) */
    COMPUTES_OR,
    COMPUTES_XOR,
    COMPUTES_PRODUCT,     /* a * (b or constant) */
    COMPUTES_SHIFT_LEFT,  /* a << constant */
    COMPUTES_SHIFT_RIGHT, /* a >> constant, of an unsigned number */
    COMPUTES_SHIFT_SIGNED,
    COMPUTES_EXTENSION, /* the lowest `bits` of a */
};

struct computation {
    uint8_t kind; /* enum computation_kind */
    uint8_t reg;  /* gets the result, as encoded */
    uint8_t a, b; /* as encoded, or NO_REGISTER */
    uint8_t scale;
    uint8_t bits;   /* of an extension */
    bool is_signed; /* of an extension */
    bool wide;      /* 64 bits; otherwise 32, and the upper half of the result is 0 */
    bool relative;  /* the sum is relative to the next instruction */
    int64_t constant;
};

/* Replaces VALUES, those of the general registers that are in KNOWN before the instruction, by
 * those behind it, and returns the registers that are known there. NEXT is the address behind it.
 * A call is over behind it, and its callee kept the registers that the calling convention says. */
uint16_t follow_registers(const struct decoded *decoded, uint64_t next, uint64_t values[16],
                          uint16_t known);

enum {
    LEAVE_POPS = 8 /* bytes */
};

/* Whether the instruction moves the stack pointer by a constant, besides what it writes to it. Sets
 * *BYTES to that. */
bool moves_stack(const struct decoded *decoded, int *bytes);

/* Whether it is `leave`: the stack pointer becomes the frame pointer, and LEAVE_POPS bytes are
 * popped. */
bool leaves_frame(const struct decoded *decoded);

/* Whether follow_registers knows a register behind the instruction if it knows certain others in
 * front of it, its INPUTS. Sets *REG and *INPUTS. Of a register that is changed by a constant, as
 * by a push, this is not told. */
bool find_computed_register(const struct decoded *decoded, uint8_t *reg, uint16_t *inputs);

/* Returns the general registers that the addresses and sizes of what the instruction accesses
 * depend on. */
uint16_t registers_of_accesses(const struct decoded *decoded);

/* Finds the vectors that the instruction's accesses depend on; see vectors_of_access. Returns their
 * number. */
unsigned vectors_of_instruction(const struct decoded *decoded,
                                struct access_vector found[ACCESS_VECTORS_MAX]);

#endif
