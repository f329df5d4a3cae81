/* comparison_output.h: comparisons as text, JSON and CSV. */
#ifndef QUIPU_REPORT_COMPARISON_OUTPUT_H
#define QUIPU_REPORT_COMPARISON_OUTPUT_H

#include "report/comparison.h"

#include <stdio.h>

struct comparison_style {
    FILE *out;
    struct arena *arena;  /* for what is shown */
    const char *by;       /* what a row is, as in --by=NAME */
    bool of_calls;        /* rows are calls, not functions */
    const char *unit;     /* what rows are, in the plural: "functions" */
    const char *headline; /* text: over the last column */
    bool color;           /* text */
    bool human;           /* text: short numbers */
};

/* Writes the first COUNT rows of COMPARISON, and its totals.  Errors of the stream stay in it. */
typedef void write_comparison(const struct comparison *comparison, size_t count,
                              const struct comparison_style *style);

write_comparison write_comparison_text, write_comparison_json, write_comparison_csv;

#endif
