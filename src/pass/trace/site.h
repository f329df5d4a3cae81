/* site.h: code of traces that is left out until a trace is recorded; private to this folder. */
#ifndef QUIPU_PASS_TRACE_SITE_H
#define QUIPU_PASS_TRACE_SITE_H

#include "pass/pass.h"
#include "x86/trace_site.h"

struct planner;
struct trace_records;

/* The code of one site, while it is written. */
struct site_code {
    struct buffer code;   /* where it is written to */
    struct buffer inner;  /* code that is out of line even there */
    struct buffer *stubs; /* where code out of line goes otherwise */
};

/* Whether records are left out until they are needed. */
bool leaves_records_out(const struct pass_state *state);

/* Returns the letter of the label at the end of a record's code. */
char end_label(const struct pass_state *state);

/* Begins and ends the writing of code to SITE. If there are sites, the second function puts the
 * code out of line, and appends the site ROW to OUT; otherwise it appends the code. The anchors of
 * code out of line are marks of the code at OUT (anchor_marks). */
void begin_site(struct planner *p, struct site_code *site);
void end_site(struct planner *p, struct buffer *out, struct site_code *site, struct trace_site row);

/* The same for code on EDGE. If nothing else is on it, its jump is the site, and OUT gets nothing.
 */
void end_site_on_edge(struct planner *p, struct buffer *out, struct site_code *site,
                      struct trace_site row, uint32_t edge);

/* Writes the rows of the sites of function NUMBER. */
void write_trace_sites(struct planner *p, const struct trace_records *trace, uint32_t number);

#endif
