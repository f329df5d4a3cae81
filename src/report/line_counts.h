/* line_counts.h: counts by source line, for annotated source and for the exports.
 *
 * Executions of a line are defined as follows, here and in all other parts of quipu:
 *
 *     In one copy of the line's code: the highest count of its instructions.
 *     Over several copies: the sum.
 *
 * A copy is the code of the line in one function, with the parts that gcc cuts off (f.part.0). An
 * inlined call has a copy of its own, if the debug information describes it. Examples: the line of
 * `for (i = 0; i < 10; i++)` ran 11 times (its test did). A line of a template ran as often as all
 * instances together.
 *
 * Not perfect: an optimizer that moves part of a line out of a loop, or vectorizes or unrolls it,
 * changes how often its instructions run. The count is then that of the machine code, which is
 * exact, and not that of the source text. Two unrolled pieces of one line in one function count as
 * one copy.
 *
 * Branches are the conditional jumps, and the indirect jumps with several targets, each at the line
 * of the jump. They are those of the machine code: `a && b` has two, and a conditional move has
 * none. */
#ifndef QUIPU_REPORT_LINE_COUNTS_H
#define QUIPU_REPORT_LINE_COUNTS_H

#include "data/profile.h"

/* One target of a branch. */
struct branch_target {
    const struct flow_edge *edge;
    uint64_t count; /* times it was taken */
};

/* A conditional jump has two targets, the taken one first. An indirect jump has all those of its
 * table. */
struct line_branch {
    const struct function *function;
    uint32_t instruction; /* ordinal of the jump in the function */
    uint64_t executed;    /* times the jump was executed */
    struct branch_target *targets;
    size_t target_count;
};

struct line_count {
    uint32_t line;                /* from 1 */
    uint32_t static_instructions; /* number of instructions of the line */
    uint32_t never_executed;      /* of those: never ran */
    uint64_t executions;          /* see above */
    uint64_t instructions;        /* instructions executed for the line */
    struct line_branch *branches; /* in the order of functions and of their code */
    size_t branch_count;
};

struct file_lines {
    uint32_t file;            /* index into profile.files; never 0 */
    struct line_count *lines; /* ascending; only lines with code, but see count_covered_lines */
    size_t line_count;
};

struct line_counts {
    struct file_lines *files; /* ascending by index; only files with code */
    size_t file_count;
};

/* Adds up the counts of all functions by line. profile_count must have been called. The result
 * lives in ARENA. */
struct line_counts *count_lines(struct arena *arena, const struct profile *profile);

/* The same for coverage. Its readers look for the lines at which functions begin. So such a line is
 * there even if an optimizer has left it no code. Its executions are the calls of the function. */
struct line_counts *count_covered_lines(struct arena *arena, const struct profile *profile);

/* The same as count_covered_lines, for the code of COUNT functions and what was inlined into
 * them. */
struct line_counts *count_function_lines(struct arena *arena,
                                         const struct function *const *functions, size_t count);

/* Return the counts of one file or line, or NULL if it has no code. */
const struct file_lines *find_file_lines(const struct line_counts *counts, uint32_t file);
const struct line_count *find_line_count(const struct file_lines *lines, uint32_t line);

/* Numbers of lines and of branches' targets, and of those that were executed. */
struct coverage {
    size_t lines, lines_hit;
    size_t branches, branches_hit;
};

/* Return that of a line, and of a file; LINES may be NULL. */
struct coverage line_coverage(const struct line_count *line);
struct coverage file_coverage(const struct file_lines *lines);
void add_coverage(struct coverage *to, struct coverage from);

/* Returns the instructions executed for the lines of a file. LINES may be NULL. */
uint64_t file_instructions(const struct file_lines *lines);

/* The branches of FUNCTION in the order of its code. */
struct function_branches {
    struct line_branch *data;
    size_t count;
};

struct function_branches find_branches(struct arena *arena, const struct function *function);

#endif
