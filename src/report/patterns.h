/* patterns.h: patterns of functions, files and modules that match nothing.
 *
 * An empty table would tell of a program that executes nothing, so such a pattern is an error, with
 * the names that may have been meant. */
#ifndef QUIPU_REPORT_PATTERNS_H
#define QUIPU_REPORT_PATTERNS_H

#include "report/view.h"

/* What there is to say where only all of them together match nothing. */
#define NOTHING_TOGETHER                                                                           \
    "nothing is of such a function, file and module together; leave one of the patterns out"

/* Ends the program where a pattern of FILTER, as the option of its name gave it, matches nothing in
 * all of PROFILE. */
void need_matches(const struct profile *profile, struct view_filter filter);

/* Nothing of PROFILE matches all of FILTER: ends the program with which of its patterns, or that it
 * is all of them together. */
_Noreturn void refuse_filter(const struct profile *profile, struct view_filter filter);

/* No file of PROFILE matches PATTERN, which SUBJECT tells of, such as "--file=max.c"; ends the
 * program. */
_Noreturn void refuse_file(const struct profile *profile, const char *subject, const char *pattern);

#endif
