/* comparison.h: two profiles side by side, row by row: functions, or calls from one place.
 *
 * A function of one profile is that of the other if name and file agree; or if the name agrees and
 * each side has just one such function left, so that two builds in different directories compare.
 * Copies of a function (see source_functions.h) are added up.
 *
 * Calls of one profile are those of the other if caller and callee agree by name, and where they
 * stand by the file's last component and the line, counted from the caller's; several at one line
 * in the order of their addresses.  What is then left of a caller and callee is matched in the same
 * order if each side has as many. */
#ifndef QUIPU_REPORT_COMPARISON_H
#define QUIPU_REPORT_COMPARISON_H

#include "data/calls.h"
#include "data/profile.h"

enum comparison_side {
    BEFORE,
    AFTER,
    SIDES
};

/* A function, or all calls of one function from one place. */
struct compared_row {
    const char *name;             /* symbol; of calls the caller's, "" where it is not known */
    const char *demangled;        /* for people: never "" */
    const char *callee;           /* of calls: symbol, "" where it is not known */
    const char *callee_demangled; /* for people: "" only where the row is a function */
    const char *file; /* where it, or the call, stands after, or before if it is gone; "": not
                         known */
    uint32_t line;    /* 0: not known */
    bool present[SIDES];
    uint64_t instructions[SIDES]; /* executed */
    uint64_t calls[SIDES];
};

struct comparison {
    struct compared_row *rows; /* the largest difference in instructions first */
    size_t count;
    size_t unchanged;             /* how many of them, at the end, differ in nothing */
    uint64_t instructions[SIDES]; /* of the whole: calls within each other counted once */
    uint64_t calls[SIDES];        /* of all rows */
};

/* Each compares two sides.  The result lives in ARENA and points into the sides. */

/* Functions by what they execute themselves.  Both profiles are counted. */
struct comparison compare_profiles(struct arena *arena, const struct profile *before,
                                   const struct profile *after);

/* Functions by what they execute with all that they call; recursion is counted once. */
struct comparison compare_inclusive(struct arena *arena, const struct contexts *before,
                                    const struct contexts *after);

/* Calls from each place, by what they execute with all that they call. */
struct comparison compare_calls(struct arena *arena, const struct contexts *before,
                                const struct contexts *after);

/* AFTER minus BEFORE of a pair of counts. */
int64_t count_delta(const uint64_t counts[SIDES]);

/* What it is of BEFORE, in percent; 0 where nothing changed, infinite where it was 0 before. */
double delta_percent(const uint64_t counts[SIDES]);

/* "new", "removed", "changed" or "unchanged". */
const char *comparison_status(const struct compared_row *row);

/* ---- for what makes comparisons ---- */

/* A row of one side. */
struct side_row {
    const char *name, *demangled;          /* as in struct compared_row */
    const char *callee, *callee_demangled; /* the same */
    const char *file;                      /* the same */
    uint32_t line;                         /* the same */
    const char *place; /* what must agree beside names: the file, or its last component */
    int64_t offset;    /* the same: line from the caller's; 0 for functions */
    uint64_t address;  /* for the order of what else is equal */
    uint64_t instructions, calls;
    bool matched; /* of the matching's own */
};

struct side {
    struct side_row *rows; /* in any order; it is changed */
    size_t count;
    uint64_t instructions; /* of the whole */
};

enum match_rest {
    MATCH_ONLY_ONE, /* what is left of names is matched if it is one on each side */
    MATCH_AS_MANY   /* if it is as many on each side */
};

/* Matches the rows of two sides. */
struct comparison match_sides(struct arena *arena, struct side sides[SIDES], enum match_rest rest);

#endif
