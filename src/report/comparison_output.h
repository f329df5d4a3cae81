/* comparison_output.h: writes comparisons as text, JSON, CSV and an HTML page. */
#ifndef QUIPU_REPORT_COMPARISON_OUTPUT_H
#define QUIPU_REPORT_COMPARISON_OUTPUT_H

#include "report/comparison.h"
#include "report/name_style.h"

#include <stdio.h>

struct comparison_style {
    FILE *out;
    struct arena *arena;      /* for texts */
    const char *by;           /* name of the view, as in --by=NAME */
    bool of_calls;            /* rows are calls, not functions */
    const char *unit;         /* the plural of a row's kind: "functions" */
    const char *headline;     /* only for text: title of the last column */
    const char *sides[SIDES]; /* only for HTML: paths of the data */
    const char *version;      /* only for HTML: of quipu */
    enum name_style names;    /* only for text */
    bool color;               /* only for text */
    bool human;               /* only for text: short numbers */
    int width;                /* only for text: as in struct table_style */
};

/* Writes the first COUNT rows of COMPARISON, and its totals. Errors stay in the stream. */
typedef void write_comparison(const struct comparison *comparison, size_t count,
                              const struct comparison_style *style);

write_comparison write_comparison_text, write_comparison_json, write_comparison_csv,
    write_comparison_html;

#endif
