/* range_check.h: the instructions before a loop that test the shadow of all that it will write
 * (Wahbe, Lucco and Graham 1993, section 4).
 *
 * AT&T syntax, joined by ';', on one line. */
#ifndef QUIPU_X86_RANGE_CHECK_H
#define QUIPU_X86_RANGE_CHECK_H

#include "asm/lex.h"
#include "x86/sequence.h"

#include <stdbool.h>
#include <stdint.h>

/* How far the loop's counter steps: see struct loop_end (flow/induction.h). */
struct loop_distance {
    uint8_t counter, limit; /* registers */
    struct span number;     /* if `limit` is NO_REGISTER: its text; empty: 0 */
    bool wide, exact, is_signed;
    int64_t step;          /* if `step_register` is NO_REGISTER */
    uint8_t step_register; /* its number must be positive and small; otherwise the check jumps to
                              `dirty` */
    bool one_way_out;      /* otherwise the loop may well end earlier */
};

/* Stores to addresses that move by STRIDE bytes in each turn; or, if the step is a register, each
 * time that the counter increases by 1. 0: they do not move. */
struct loop_range {
    struct span operand; /* of the lowest store, in AT&T syntax */
    int64_t extra;       /* distance in bytes from there to the highest */
    int64_t stride;
    bool by_stack; /* the operand's base is the stack pointer */
    /* Its register `narrow` may be an extended copy of the counter's 32 bits ... */
    bool is_narrow, is_signed;
    uint8_t narrow;
    struct span copy; /* ... made by this instruction; empty: it is the counter itself */
};

/* Registers that the checks change, besides %r11 and the flags. No range and no distance uses
 * them. */
struct scratch_registers {
    uint8_t of[2];
    bool kept[2]; /* saved on the stack meanwhile */
};

/* Whether the length of a range with that STRIDE can be computed. */
bool is_known_distance(const struct loop_distance *distance, int64_t stride);

/* Before all checks, and behind them: saves the registers that are `kept` below the red zone, and
 * restores them. */
void write_scratch_begin(struct buffer *out, const struct scratch_registers *scratch,
                         const struct frame_row *frame);
void write_scratch_end(struct buffer *out, const struct scratch_registers *scratch,
                       const struct frame_row *frame);
/* For the unwinder, if control comes from between the two. */
void write_scratch_frame(struct buffer *out, const struct scratch_registers *scratch,
                         const struct frame_row *frame);

/* The checks of a loop's ranges. */
struct range_checks {
    struct buffer *out;
    struct buffer *apart; /* code that rarely runs; control does not fall into it */
    const struct loop_distance *distance;
    const struct scratch_registers *scratch;
    const char *dirty; /* label for ranges of which some byte may be watched */
    int64_t held;      /* the stride whose length the first scratch register contains; 0: none */
};

/* Sets SCRATCH to the scratch registers of CHECKS. Only those that quick checks of COUNT ranges
 * change stay `kept`. Returns false if such checks would always fail. */
bool find_quick_scratch(const struct range_checks *checks, const struct loop_range *ranges,
                        uint32_t count, struct scratch_registers *scratch);

/* Jumps to `dirty` if some byte of the COUNT ranges may be watched, or if a few tests cannot decide
 * that. */
void write_quick_checks(const struct range_checks *checks, const struct loop_range *ranges,
                        uint32_t count);

/* Jumps to `dirty` if some byte of RANGE may be watched. */
void write_range_check(struct range_checks *checks, const struct loop_range *range, uint32_t label);

/* Jumps to DIRTY if there is no shadow. */
void write_shadow_check(struct buffer *out, const char *dirty);

#endif
