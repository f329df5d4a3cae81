/* loops.h: declarations shared by the files of loops without checks. Private to the pass. */
#ifndef QUIPU_PASS_WATCH_LOOPS_H
#define QUIPU_PASS_WATCH_LOOPS_H

#include "flow/loops.h"
#include "pass/watch/watch.h"
#include "x86/far_check.h"
#include "x86/loop_check.h"
#include "x86/range_check.h"

enum {
    RANGES_MAX = 4, /* for each loop */
    FAR_MAX = 6,
};

struct loop_copy {
    struct loop_text text;
    uint32_t head;
    index_list blocks; /* in the order of the text */
    bool apart;        /* the choice is out of line */
    uint32_t jumps;    /* backward jumps written so far */
    /* ranges.c */
    uint16_t written; /* registers that the loop writes */
    bool has_ranges;  /* all that it writes can be found before the loop */
    uint32_t range_count;
    struct loop_range ranges[RANGES_MAX];
    struct loop_distance distance;
    struct scratch_registers scratch;
    /* far.c */
    bool has_far_checks; /* each address starts at one of `far`, and moves in its direction */
    uint32_t far_count;
    struct far_check far[FAR_MAX];
    uint16_t far_steps; /* registers whose value must be positive and not large */
};

/* ranges.c: finds what the loop will write, if that can be known; and writes, out of line, the test
 * whether that is watched. The test follows the choice, and continues to the copy or to the checked
 * loop. */
void find_ranges(const struct planner *p, const struct loops *loops, struct loop_copy *loop);
void write_ranges(struct planner *p, const struct loop_copy *loop);

/* far.c: finds where the loop will write, if that can be known, whatever its number of iterations;
 * and writes the test whether that is far from all regions. If so it jumps to the copy, otherwise
 * it falls through. */
void find_far(const struct planner *p, struct loop_copy *loop);
void write_far(struct planner *p, const struct loop_copy *loop);

/* Whether the loop may run its copy while something is watched. */
static inline bool asks_where(const struct loop_copy *loop) {
    return loop->has_ranges || loop->has_far_checks;
}

/* Whether the instruction stores at most QUIPU_WATCH_SPAN bytes at an address of general registers,
 * and its operand, OPERAND, can also be written elsewhere. */
bool is_movable_store(const struct planner *p, const struct graph_instruction *instruction,
                      struct span *operand);

#endif
