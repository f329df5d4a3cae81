/* induction.h: the induction variables of a loop, and the comparison that ends it. */
#ifndef QUIPU_FLOW_INDUCTION_H
#define QUIPU_FLOW_INDUCTION_H

#include "flow/loops.h"

/* The change of a register in each iteration, on every path through the loop. */
struct register_step {
    bool known;         /* it is stepped once, and not written otherwise */
    bool copied;        /* it is written once, by a copy of register `by` */
    bool is_signed;     /* a copy of 32 bits: its sign extends it, otherwise zeros do */
    uint32_t statement; /* the statement that writes it */
    bool wide;          /* all 64 bits are stepped or copied, otherwise 32 */
    uint8_t by;         /* a step: a register that the loop does not write, or NO_REGISTER: the
                           constant */
    int64_t constant;
};

/* A comparison in each iteration that ends the loop. The loop continues while the counter is not
 * equal to the limit, or while the counter has not reached or passed the limit in the direction of
 * its steps. The loop runs at most until the counter is the limit plus two steps. */
struct loop_end {
    bool known;
    uint8_t counter;
    bool wide;  /* 64 bits are compared, otherwise 32 */
    bool exact; /* the loop continues while both are not equal */
    bool is_signed;
    uint8_t limit;      /* a register that the loop does not write, or NO_REGISTER: ... */
    uint32_t statement; /* ... the number in the text of this statement; NONE: 0 */
};

struct induction {
    uint16_t written; /* registers that the loop writes */
    struct register_step steps[GENERAL_REGISTERS];
    struct loop_end end;
    bool one_way_out;
};

/* Finds the induction variables of the loop of BLOCKS. Its head is block HEAD, and it contains no
 * other loop. Returns false if more than one block jumps back, or if a block may run more than once
 * in an iteration.
 * requires: find_loops, find_liveness */
bool find_induction(const struct graph *graph, const struct loops *loops, uint32_t head,
                    const index_list *blocks, struct induction *induction);

/* Whether the instruction adds a register, or a number that the linker does not change. */
bool adds_number(const struct graph *graph, const struct graph_instruction *instruction);

/* Returns the register that REG is a copy of, if the copy is made in the iteration in which it is
 * read. Otherwise returns REG. */
uint8_t original_register(const struct graph *graph, uint32_t head,
                          const struct induction *induction, uint8_t reg);

#endif
