/* line_counts.h: counts by source line, for annotated source and for the exports.
 *
 * What "executions of a line" means, here and everywhere in the toolkit:
 *
 *     In one copy of the line's code it is the highest count of its instructions.
 *     Over several copies it is the sum.
 *
 * A copy is what one function holds of the line; a call that was inlined makes a copy of its own,
 * where the debug information tells it.  Examples: the line of `for (i = 0; i < 10; i++)` ran 11
 * times (its test did); a line of a template ran as often as all instances together.
 *
 * Where it is not perfect: an optimizer that moves part of a line out of a loop, or runs it
 * vectorized or unrolled, changes how often its instructions run; the count then is that of the
 * machine's code, which is exact, not that of the source's text.  Two unrolled pieces of one line
 * in one function count as one copy.
 *
 * Branches are the conditional jumps and the indirect jumps with several targets, each at the line
 * of the jump.  They are the machine's: `a && b` has two, a conditional move none. */
#ifndef QUIPU_REPORT_LINE_COUNTS_H
#define QUIPU_REPORT_LINE_COUNTS_H

#include "data/profile.h"

/* One way out of a branch. */
struct branch_target {
    const struct flow_edge *edge;
    uint64_t count; /* times it was taken */
};

/* A conditional jump: two targets, the taken one first.  An indirect jump: all that its table
 * names. */
struct line_branch {
    const struct function *function;
    uint32_t instruction; /* ordinal of the jump in the function */
    uint64_t executed;    /* times the jump was executed */
    struct branch_target *targets;
    size_t target_count;
};

struct line_count {
    uint32_t line;                /* from 1 */
    uint32_t static_instructions; /* how many instructions the line was made into */
    uint32_t never_executed;      /* of those: never ran */
    uint64_t executions;          /* see above */
    uint64_t instructions;        /* instructions executed for the line */
    struct line_branch *branches; /* in the order of functions and of their code */
    size_t branch_count;
};

struct file_lines {
    uint32_t file;            /* index into profile.files; never 0 */
    struct line_count *lines; /* ascending; only lines that have code, or see below */
    size_t line_count;
};

struct line_counts {
    struct file_lines *files; /* ascending by index; only files that have code */
    size_t file_count;
};

/* Adds up the counts of all functions by line.  profile_count must have been called.  The result
 * lives in ARENA. */
struct line_counts *count_lines(struct arena *arena, const struct profile *profile);

/* The same for coverage, whose readers look for the lines that functions begin at: such a line is
 * there, too, where an optimizer has left it no code, and ran as often as the function was called.
 */
struct line_counts *count_covered_lines(struct arena *arena, const struct profile *profile);

/* The same for the code of COUNT functions, with what was inlined into them. */
struct line_counts *count_function_lines(struct arena *arena,
                                         const struct function *const *functions, size_t count);

/* The counts of one file or line; NULL where it has no code. */
const struct file_lines *find_file_lines(const struct line_counts *counts, uint32_t file);
const struct line_count *find_line_count(const struct file_lines *lines, uint32_t line);

/* The branches of FUNCTION in the order of its code. */
struct function_branches {
    struct line_branch *data;
    size_t count;
};

struct function_branches find_branches(struct arena *arena, const struct function *function);

#endif
