/* html.h: declarations that the parts of a profile's HTML page share. */
#ifndef QUIPU_REPORT_HTML_H
#define QUIPU_REPORT_HTML_H

#include "report/export.h"
#include "report/json_writer.h"
#include "report/line_counts.h"

/* The functions of the page, in the order of their numbers there: the most executed first. */
struct html_functions {
    const struct function **list;
    size_t count;
};

/* html_source.c: members "parts", "source" and "assembly" of the data: the most executed files and
 * functions as far as there is room. If DIRECTORY is not NULL, they are in files below it, and
 * "parts" has the numbers of these. */
void html_write_source(struct json_writer *json, const char *directory,
                       const struct profile *profile, const struct line_counts *counts,
                       const struct html_functions *functions);

/* html_calls.c: member "calls", or null. CONTEXTS has a root for each thread; NULL: there are no
 * calls. */
void html_write_calls(struct json_writer *json, const struct contexts *contexts);

#endif
