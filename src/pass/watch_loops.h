/* watch_loops.h: what the files of loops without checks offer each other.  Private to the pass. */
#ifndef QUIPU_PASS_WATCH_LOOPS_H
#define QUIPU_PASS_WATCH_LOOPS_H

#include "flow/loops.h"
#include "pass/plan.h"
#include "x86/loop_check.h"
#include "x86/range_check.h"

enum {
    RANGES_MAX = 4, /* of a loop */
};

struct loop_copy {
    struct loop_text text;
    uint32_t head;
    index_list blocks; /* in the order of the text */
    bool apart;        /* the choice is out of line */
    uint32_t jumps;    /* backward ones that are written */
    /* watch_ranges.c */
    uint16_t written; /* registers that the loop writes */
    bool has_ranges;  /* all that it writes can be told in front of it */
    uint32_t range_count;
    struct loop_range ranges[RANGES_MAX];
    struct loop_distance distance;
    struct scratch_registers scratch;
};

/* watch_ranges.c: what the loop will write, if that can be told; and, out of line, the question
 * whether that is watched, which comes behind the choice and goes on to the copy. */
void find_ranges(const struct planner *p, const struct loops *loops, struct loop_copy *loop);
void write_ranges(struct planner *p, const struct loop_copy *loop);

#endif
