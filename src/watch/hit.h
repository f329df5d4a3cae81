/* hit.h: hits as text and as JSON, a line each. */
#ifndef QUIPU_WATCH_HIT_H
#define QUIPU_WATCH_HIT_H

#include "util/buffer.h"
#include "watch/request.h"
#include "watch/writer.h"

/* A call that may have changed what another is told to have. */
struct told_other {
    const struct writer *writer;
    uint32_t thread;
};

/* What is told of one hit. */
struct told_hit {
    uint64_t number; /* from 1 */
    const struct quipu_hit *hit;
    const struct watched *watched;
    struct writer *writer;
    struct told_bytes old, now;
    uint64_t begin, end;               /* the bytes of the object that were written */
    struct quipu_block block;          /* that was written to; its number is 0: none */
    const struct call_place *freed_by; /* NULL: it has not been freed, or that is under way */
    const char *backtrace;             /* lines, or NULL */
    bool is_undecided;                 /* it may be another call's: */
    const struct quipu_candidate *candidates;
    unsigned candidate_count;
    struct told_other others[QUIPU_CANDIDATES_MAX]; /* of the candidates */
    bool is_violation;
};

struct hit_format {
    bool json;
    bool longer; /* text: process, thread, address and bytes too */
    size_t name_width, value_width, function_width, place_width; /* of text, so far */
};

/* Sets what HIT says; false: it tells nothing of WATCHED. */
bool read_hit(const struct quipu_hit *hit, const struct watched *watched, struct told_hit *told);

/* Appends it to OUT. */
void print_hit(struct arena *arena, struct hit_format *format, const struct told_hit *told,
               struct buffer *out);

/* The name of what was written, and the values, appended each. */
void print_name(const struct told_hit *told, struct buffer *out);
void print_values(const struct told_hit *told, struct buffer *old, struct buffer *now);

#endif
