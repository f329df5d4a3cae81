/* induction.h: by what a loop steps its registers, and what ends it. */
#ifndef QUIPU_FLOW_INDUCTION_H
#define QUIPU_FLOW_INDUCTION_H

#include "flow/loops.h"

/* What becomes of a register in each turn, whatever way that takes. */
struct register_step {
    bool known;     /* it is stepped once, and else not written */
    bool copied;    /* or made once from another one, `by`, that is stepped; so `wide` tells ... */
    bool is_signed; /* ... or else this, how it is extended */
    uint32_t statement; /* where it is copied */
    bool wide;          /* all 64 bits of it */
    uint8_t by;         /* a register that the loop does not write; or NO_REGISTER: the constant */
    int64_t constant;
};

/* A comparison in each turn that ends the loop: it goes on while the counter is not equal to the
 * limit, or has not reached or passed it in the direction of its steps.  At least with the limit
 * plus two steps it is not reached any more. */
struct loop_end {
    bool known;
    uint8_t counter;
    bool wide;  /* 64 bits are compared, else 32 */
    bool exact; /* not equal */
    bool is_signed;
    uint8_t limit;      /* a register that the loop does not write; or NO_REGISTER ... */
    uint32_t statement; /* ... the number in its text; NONE: 0 */
};

struct induction {
    uint16_t written; /* registers that the loop writes */
    struct register_step steps[GENERAL_REGISTERS];
    struct loop_end end;
    bool one_way_out;
};

/* Of the loop of BLOCKS whose head is block HEAD and which holds no other.  Returns false where a
 * block may run more than once in a turn.
 * requires: find_loops, find_liveness */
bool find_induction(const struct graph *graph, const struct loops *loops, uint32_t head,
                    const index_list *blocks, struct induction *induction);

/* Whether what the instruction adds is a register, or a number that needs no linker. */
bool adds_number(const struct graph *graph, const struct graph_instruction *instruction);

/* The register that REG is a copy of, made in the same turn in which it is read; or REG. */
uint8_t original_register(const struct graph *graph, uint32_t head,
                          const struct induction *induction, uint8_t reg);

#endif
