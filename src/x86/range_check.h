/* range_check.h: the instructions that look, in front of a loop, at the shadow of all that it will
 * write (Wahbe, Lucco and Graham 1993, section 4).
 *
 * AT&T syntax, joined by ';', on one line. */
#ifndef QUIPU_X86_RANGE_CHECK_H
#define QUIPU_X86_RANGE_CHECK_H

#include "asm/lex.h"
#include "x86/sequence.h"

#include <stdbool.h>
#include <stdint.h>

/* How far the loop's counter goes: see struct loop_end (flow/induction.h). */
struct loop_distance {
    uint8_t counter, limit; /* registers */
    struct span number;     /* where `limit` is NO_REGISTER, its text; of no length: 0 */
    bool wide, exact, is_signed;
    int64_t step;          /* where `step_register` is NO_REGISTER; else that must be positive */
    uint8_t step_register; /* and short, or nothing is passed */
    bool one_way_out;      /* else the loop may well end before */
};

/* Stores to addresses that move by STRIDE bytes in each turn; or, where the step is a register, for
 * each 1 that the counter goes up.  0: they do not move. */
struct loop_range {
    struct span operand; /* of the lowest, in AT&T syntax */
    int64_t extra;       /* bytes from there to the highest */
    int64_t stride;
    bool by_stack; /* the operand's base is the stack pointer */
    /* It may have the counter in a register that is made of 32 bits of it, by extending them ... */
    bool is_narrow, is_signed;
    uint8_t narrow;
    struct span copy; /* ... by this instruction; of no length: it is the counter itself */
};

/* Registers that the questions change, beside %r11 and the flags.  No range and no distance is made
 * of them. */
struct scratch_registers {
    uint8_t of[2];
    bool kept[2]; /* on the stack meanwhile */
};

/* Whether the range of that STRIDE can be told. */
bool is_known_distance(const struct loop_distance *distance, int64_t stride);

/* In front of all questions, and behind them: keeps what is to be kept below the red zone. */
void write_scratch_begin(struct buffer *out, const struct scratch_registers *scratch,
                         const struct frame_row *frame);
void write_scratch_end(struct buffer *out, const struct scratch_registers *scratch,
                       const struct frame_row *frame);
/* For the unwinder, where control comes from between the two. */
void write_scratch_frame(struct buffer *out, const struct scratch_registers *scratch,
                         const struct frame_row *frame);

/* The checks of a loop's ranges. */
struct range_checks {
    struct buffer *out;
    struct buffer *apart; /* what is rarely run; control does not come there by itself */
    const struct loop_distance *distance;
    const struct scratch_registers *scratch;
    const char *dirty; /* where something of a range may be watched */
    int64_t held;      /* the stride whose length the first scratch register has; 0: none */
};

/* Sets SCRATCH to those registers that quick checks of COUNT ranges change, of what CHECKS may.
 * Returns false where such checks would never tell. */
bool find_quick_scratch(const struct range_checks *checks, const struct loop_range *ranges,
                        uint32_t count, struct scratch_registers *scratch);

/* Goes to `dirty` where something of the COUNT ranges may be watched, or it takes more than a few
 * looks to tell. */
void write_quick_checks(const struct range_checks *checks, const struct loop_range *ranges,
                        uint32_t count);

/* Goes to `dirty` where something of RANGE may be watched. */
void write_range_check(struct range_checks *checks, const struct loop_range *range, uint32_t label);

/* Goes to DIRTY where there is no shadow. */
void write_shadow_check(struct buffer *out, const char *dirty);

#endif
