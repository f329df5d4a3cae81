/* comparison.h: compares two profiles row by row. Rows are functions, or calls from one call site.
 *
 * A function of one profile is matched with one of the other if name and file agree. It is also
 * matched if the name agrees and each side has only one such function left. So two builds in
 * different directories can be compared. Copies of a function (see source_functions.h) are added
 * up.
 *
 * Calls of one profile are matched with calls of the other if caller and callee agree by name, and
 * if their call sites agree: the last component of the file, and the line, counted from the
 * caller's line. Several calls at one line are matched in the order of their addresses. The calls
 * of a caller and callee that are left are matched in the same order if each side has the same
 * number of them. */
#ifndef QUIPU_REPORT_COMPARISON_H
#define QUIPU_REPORT_COMPARISON_H

#include "data/calls.h"
#include "data/profile.h"

enum comparison_side {
    BEFORE,
    AFTER,
    SIDES
};

/* A function, or all calls of one function from one call site. */
struct compared_row {
    const char *name;             /* symbol; for calls, the caller's; "": not known */
    const char *demangled;        /* for people: never "" */
    const char *callee;           /* for calls: symbol; "": not known */
    const char *callee_demangled; /* for people; "" only if the row is a function */
    const char *file; /* of the function or call after or, if it is gone, before; "": not known */
    uint32_t line;    /* 0: not known */
    bool present[SIDES];
    uint64_t instructions[SIDES]; /* executed */
    uint64_t calls[SIDES];
};

struct comparison {
    struct compared_row *rows; /* the largest difference in instructions first */
    size_t count;
    size_t unchanged; /* number of rows without any difference, which are the last ones */
    uint64_t instructions[SIDES]; /* of the whole; calls within each other are counted once */
    uint64_t calls[SIDES];        /* of all rows */
};

/* Each compares two sides. The result lives in ARENA and points into the sides. */

/* Compares functions by the instructions that they execute themselves. profile_count must have been
 * called for both profiles. */
struct comparison compare_profiles(struct arena *arena, const struct profile *before,
                                   const struct profile *after);

/* Compares functions by the instructions that they and their callees execute. Recursion is counted
 * once. */
struct comparison compare_inclusive(struct arena *arena, const struct contexts *before,
                                    const struct contexts *after);

/* Compares the calls from each call site, by the instructions that the callees and their callees
 * execute. */
struct comparison compare_calls(struct arena *arena, const struct contexts *before,
                                const struct contexts *after);

/* Returns AFTER minus BEFORE of a pair of counts. */
int64_t count_delta(const uint64_t counts[SIDES]);

/* Returns that difference in percent of BEFORE: 0 if nothing changed, infinite if BEFORE is 0. */
double delta_percent(const uint64_t counts[SIDES]);

/* Returns "new", "removed", "changed" or "unchanged". */
const char *comparison_status(const struct compared_row *row);

/* ---- for files that make comparisons ---- */

/* A row of one side. */
struct side_row {
    const char *name, *demangled;          /* as in struct compared_row */
    const char *callee, *callee_demangled; /* as in struct compared_row */
    const char *file;                      /* as in struct compared_row */
    uint32_t line;                         /* as in struct compared_row */
    const char *place; /* must agree in addition to names: the file, or its last component */
    int64_t offset;    /* must agree, too: line, counted from the caller's; 0 for functions */
    uint64_t address;  /* for the order of rows that are equal otherwise */
    uint64_t instructions, calls;
    bool matched; /* for match_sides */
};

struct side {
    struct side_row *rows; /* in any order; match_sides changes it */
    size_t count;
    uint64_t instructions; /* of the whole */
};

enum match_rest {
    MATCH_ONLY_ONE, /* rows that are left of a group are matched if each side has only one */
    MATCH_AS_MANY   /* the same if each side has the same number */
};

/* Matches the rows of two sides. REST is the rule for rows whose places do not agree. */
struct comparison match_sides(struct arena *arena, struct side sides[SIDES], enum match_rest rest);

#endif
