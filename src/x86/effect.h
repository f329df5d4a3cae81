/* effect.h: what an instruction accesses and computes, in a short form that is followed quickly.
 *
 * A regenerator follows each executed instruction, and most of them load, store, or add. Their
 * addresses and results are sums of two values and a number, and all that is needed for them is
 * here, in one place. */
#ifndef QUIPU_X86_EFFECT_H
#define QUIPU_X86_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/decode.h"

enum {
    /* Values that are added like registers, so that a sum always has two. */
    VALUE_ZERO = GENERAL_REGISTERS, /* 0 */
    VALUE_BIAS,                     /* the difference of addresses to those as linked */
    VALUE_THREAD,                   /* the base address of %fs */
    EFFECT_VALUES,

    EFFECT_ACCESSES = 2
};

/* SIZE bytes at the sum of values[base], values[index] << shift and the displacement. */
struct effect_access {
    int64_t displacement;
    uint8_t base, index, shift;
    bool writes;
    uint16_t size;
    uint16_t needs; /* the general registers in the address */
};

enum effect_kind {
    EFFECT_LONG, /* not described here: follow_registers and accessed_parts do */
    EFFECT_NONE, /* no general register is computed */
    EFFECT_SUM,  /* values[reg] = values[a] + (values[b] << shift) + constant */
    EFFECT_OTHER /* values[reg] is another computation, which follow_registers knows */
};

struct effect {
    uint8_t kind; /* enum effect_kind */
    uint8_t access_count;
    uint8_t reg, a, b, shift;
    bool narrow;      /* EFFECT_SUM: the result has 32 bits */
    uint16_t kept;    /* registers that are known behind it if they are in front */
    uint16_t needs;   /* registers of the computation: if all are known ... */
    uint16_t results; /* ... these are, behind it */
    int64_t constant;
    struct effect_access accesses[EFFECT_ACCESSES]; /* loads first */
};

/* Returns the effect of the instruction. NEXT is the address behind it, as linked. */
struct effect find_effect(const struct decoded *decoded, uint64_t next);

/* Replaces VALUES by those behind the instruction, and returns the general registers that are known
 * there; KNOWN are in front of it. For an effect of EFFECT_LONG nothing is done. NEXT is the
 * address behind the instruction. The values behind the general registers stay. */
static inline uint16_t follow_effect(const struct effect *effect, const struct decoded *decoded,
                                     uint64_t next, uint64_t values[EFFECT_VALUES],
                                     uint16_t known) {
    if (effect->kind == EFFECT_OTHER)
        return follow_registers(decoded, next, values, known);
    uint16_t behind = known & effect->kept;
    if (effect->kind == EFFECT_SUM && !(effect->needs & ~known)) {
        uint64_t sum =
            values[effect->a] + (values[effect->b] << effect->shift) + (uint64_t)effect->constant;
        values[effect->reg] = effect->narrow ? (uint32_t)sum : sum;
        behind |= effect->results;
    }
    return behind;
}

static inline uint64_t effect_address(const struct effect_access *access,
                                      const uint64_t values[EFFECT_VALUES]) {
    return values[access->base] + (values[access->index] << access->shift) +
           (uint64_t)access->displacement;
}

#endif
