/* loops.h: what the files of loops without checks offer each other.  Private to the pass. */
#ifndef QUIPU_PASS_WATCH_LOOPS_H
#define QUIPU_PASS_WATCH_LOOPS_H

#include "flow/loops.h"
#include "pass/watch/watch.h"
#include "x86/far_check.h"
#include "x86/loop_check.h"
#include "x86/range_check.h"

enum {
    RANGES_MAX = 4, /* of a loop */
    FAR_MAX = 6,
};

struct loop_copy {
    struct loop_text text;
    uint32_t head;
    index_list blocks; /* in the order of the text */
    bool apart;        /* the choice is out of line */
    uint32_t jumps;    /* backward ones that are written */
    /* ranges.c */
    uint16_t written; /* registers that the loop writes */
    bool has_ranges;  /* all that it writes can be told in front of it */
    uint32_t range_count;
    struct loop_range ranges[RANGES_MAX];
    struct loop_distance distance;
    struct scratch_registers scratch;
    /* far.c */
    bool
        is_far_told; /* all that it writes begins at these addresses, and goes its way from there */
    uint32_t far_count;
    struct far_check far[FAR_MAX];
    uint16_t far_steps; /* registers that must be positive for it, and not great */
};

/* ranges.c: what the loop will write, if that can be told; and, out of line, the question
 * whether that is watched, which comes behind the choice and goes on to the copy. */
void find_ranges(const struct planner *p, const struct loops *loops, struct loop_copy *loop);
void write_ranges(struct planner *p, const struct loop_copy *loop);

/* far.c: where what the loop will write lies, if that can be told, however far it goes; and
 * the question whether that is far from what is watched: then to the copy, else behind itself. */
void find_far(const struct planner *p, struct loop_copy *loop);
void write_far(struct planner *p, const struct loop_copy *loop);

/* Whether the loop may run its copy while something is watched. */
static inline bool asks_where(const struct loop_copy *loop) {
    return loop->has_ranges || loop->is_far_told;
}

/* A store of at most QUIPU_WATCH_SPAN bytes at an address of general registers, whose operand can
 * be written elsewhere, too: OPERAND. */
bool is_movable_store(const struct planner *p, const struct graph_instruction *instruction,
                      struct span *operand);

#endif
