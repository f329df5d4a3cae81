/* trace_site.h: sites of traces: places at which code is left out until a trace is recorded
 * (format/watch.h, struct quipu_site).
 *
 * A site is a no-operation in line, or the distance of a conditional jump. Its code is out of line.
 * The labels, with the site's number: .LQa the no-operation, .LQq behind it, .LQj the jump, .LQs
 * the code, .LQy the end of the code. */
#ifndef QUIPU_X86_TRACE_SITE_H
#define QUIPU_X86_TRACE_SITE_H

#include "x86/sequence.h"

/* What a site is in the text. */
enum trace_site_kind {
    TRACE_SITE_PLACE, /* a no-operation; the code comes back to the instruction behind it */
    TRACE_SITE_LAST,  /* a no-operation; the code does not come back */
    TRACE_SITE_JUMP,  /* a conditional jump; the code goes on to the jump's target */
    TRACE_SITE_LOOP, /* a no-operation, or a jump of the same size; the code is in line: the form of
                        the loop that has records */
};

struct trace_site {
    uint32_t label; /* number of its labels */
    enum trace_site_kind kind;
    char record;        /* letter of the label (.LQ and the number) at the record's code, or behind
                           the call that takes a ticket */
    uint32_t jump;      /* of a TRACE_SITE_JUMP: its position in the unit's text, ... */
    const char *target; /* ... and its operand */
    uint8_t fragment;   /* that has it */
    struct frame_row frame; /* the unwinder's row there */
};

/* Writes the no-operation. */
void write_trace_place(struct buffer *out, uint32_t label);

/* Returns in ARENA what goes in front of the conditional jump of a TRACE_SITE_JUMP. */
const char *trace_jump_prefix(struct arena *arena, uint32_t label);

/* Puts CODE out of line. INNER: code that is out of line even there. */
void write_trace_site_code(const struct code_context *context, const struct trace_site *site,
                           const struct buffer *code, const struct buffer *inner);

/* Writes the site's row in QUIPU_SITES_SECTION. */
void write_trace_site_row(struct buffer *out, const struct trace_site *site);

/* Writes a row there: from label (.LQo) BEGIN to END there are the instructions behind label (.LQb)
 * PIECE. */
void write_trace_copy_row(struct buffer *out, uint32_t piece, uint32_t begin, uint32_t end);

#endif
