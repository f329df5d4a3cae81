/* patterns.h: errors for patterns of functions, files and modules that match nothing.
 *
 * An empty table would look like a program that executes nothing. So such a pattern is an error,
 * which suggests names that may have been meant. */
#ifndef QUIPU_REPORT_PATTERNS_H
#define QUIPU_REPORT_PATTERNS_H

#include "report/view.h"

/* The message if each pattern matches something, but nothing matches all of them. */
#define NOTHING_TOGETHER                                                                           \
    "nothing is of such a function, file and module together; leave one of the patterns out"

/* Ends the program with an error if a pattern of FILTER matches nothing in all of PROFILE. The
 * error names the pattern's option. */
void need_matches(const struct profile *profile, struct view_filter filter);

/* Ends the program with an error, because nothing of PROFILE matches all of FILTER. The error names
 * the pattern that matches nothing, or says that all of them together match nothing. */
_Noreturn void refuse_filter(const struct profile *profile, struct view_filter filter);

/* Ends the program with an error, because no file of PROFILE matches PATTERN. The error is about
 * SUBJECT, such as "--file=max.c". */
_Noreturn void refuse_file(const struct profile *profile, const char *subject, const char *pattern);

#endif
