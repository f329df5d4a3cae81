/* hit.h: hits as text and as JSON, one line each. */
#ifndef QUIPU_WATCH_HIT_H
#define QUIPU_WATCH_HIT_H

#include "util/buffer.h"
#include "watch/request.h"
#include "watch/writer.h"

/* A call that may have made a change that is attributed to another call. */
struct other_call {
    const struct writer *writer;
    uint32_t thread;
};

/* The contents of one hit. */
struct hit_report {
    uint64_t number;       /* from 1 */
    struct quipu_hit *hit; /* in the ring, where it is answered */
    const struct watched *watched;
    struct writer *writer;
    struct known_bytes old, now;
    uint64_t begin, end;               /* the written bytes of the object */
    struct quipu_block block;          /* the block that was written to; number 0: none */
    const struct call_place *freed_by; /* NULL: it is not freed, or is being freed */
    const char *backtrace;             /* lines, or NULL */
    const char *moment;                /* its name, of a recording; NULL: the hit has its ticks */
    bool is_undecided;                 /* another call may have made it: */
    const struct quipu_candidate *candidates;
    unsigned candidate_count;
    struct other_call others[QUIPU_CANDIDATES_MAX]; /* for each candidate */
    bool is_violation;
};

struct hit_format {
    bool json;
    bool markup; /* JSON within a page: each '<' is an escape */
    bool longer; /* text: also process, thread, address and bytes */
    size_t name_width, value_width, function_width,
        place_width; /* of the columns of text, so far */
};

/* Reads HIT into TOLD. Returns false if it is not about WATCHED. */
bool read_hit(struct quipu_hit *hit, const struct watched *watched, struct hit_report *report);

/* Appends the hit to OUT. */
void print_hit(struct arena *arena, struct hit_format *format, const struct hit_report *report,
               struct buffer *out);

/* Append the name of what was written, and its values. */
void print_name(const struct hit_report *report, struct buffer *out);
void print_values(const struct hit_report *report, struct buffer *old, struct buffer *now);

#endif
