/* listing.h: a trace as rows that people and scripts read: each executed instruction, with its
 * place and what it accessed. */
#ifndef QUIPU_TRACE_LISTING_H
#define QUIPU_TRACE_LISTING_H

#include "trace/trace.h"

#include <stdio.h>

struct listing_format;

/* Returns the format that --format=NAME means. An unknown name ends the program with an error. */
const struct listing_format *choose_listing_format(const char *name);

struct listing_options {
    const struct listing_format *format; /* NULL: text */
    bool assembly;                       /* with the text of each instruction */
    bool moments;                        /* with the name of the moment in front of it */
    const char *function;                /* only its instructions; NULL: all */
    bool global;                         /* for list_in_order: rows tell of order */
    bool switches;                       /* ... and of the switches of the trace's schedule */
    bool begun;                          /* what the output begins with was written before */
    bool continues; /* for list_thread: what the thread's rows begin with was written before */
    uint64_t skip;  /* of each thread: leaves out the first ones of those that are chosen ... */
    uint64_t most;  /* ... and then takes so many */
};

struct listing; /* listing.c */

/* Begins a listing to OUT. Errors stay in the stream: the caller tests ferror. */
struct listing *begin_listing(const struct listing_options *options, FILE *out);

/* Writes the rows of one thread. Returns why its records could not be followed to their end, or
 * NULL. The message is valid as long as the program. Ends early if OUT has an error. */
const char *list_thread(struct listing *listing, struct trace *trace,
                        const struct traced_thread *thread);

/* Is called for a thread whose records could not be followed to their end, because of FAULT. */
typedef void report_listing_fault(const struct trace *trace, const struct traced_thread *thread,
                                  const char *fault);

/* Writes the rows of all THREADS, which end with NULL, in one order (trace/order.h). `skip` and
 * `most` are of all rows. A row that has no order to the one in front of it says so. Returns
 * whether all records could be followed. */
bool list_in_order(struct listing *listing, struct trace *trace,
                   const struct traced_thread **threads, report_listing_fault *report);

void end_listing(struct listing *listing);

#endif
