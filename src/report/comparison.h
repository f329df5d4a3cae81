/* comparison.h: two profiles side by side, function by function.
 *
 * A function of one profile is that of the other if name and file agree; or if the name agrees and
 * each side has just one such function left, so that two builds in different directories compare.
 * Copies of a function (see source_functions.h) are added up. */
#ifndef QUIPU_REPORT_COMPARISON_H
#define QUIPU_REPORT_COMPARISON_H

#include "data/profile.h"

enum comparison_side {
    BEFORE,
    AFTER,
    SIDES
};

struct compared_function {
    const char *name;      /* symbol */
    const char *demangled; /* the same as name where nothing is mangled */
    const char *file;      /* where it stands after, or before if it is gone; "": not known */
    uint32_t line;         /* 0: not known */
    bool present[SIDES];
    uint64_t instructions[SIDES]; /* executed */
    uint64_t calls[SIDES];
};

struct comparison {
    struct compared_function *functions; /* the largest difference in instructions first */
    size_t count;
    size_t unchanged; /* how many of them, at the end, differ in nothing */
    uint64_t instructions[SIDES];
    uint64_t calls[SIDES];
};

/* Compares two counted profiles.  The result lives in ARENA and points into the profiles. */
struct comparison compare_profiles(struct arena *arena, const struct profile *before,
                                   const struct profile *after);

/* AFTER minus BEFORE of a pair of counts. */
int64_t count_delta(const uint64_t counts[SIDES]);

/* What it is of BEFORE, in percent; 0 where nothing changed, infinite where it was 0 before. */
double delta_percent(const uint64_t counts[SIDES]);

/* "new", "removed", "changed" or "unchanged". */
const char *comparison_status(const struct compared_function *function);

#endif
