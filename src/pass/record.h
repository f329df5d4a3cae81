/* record.h: binary records as assembly text.
 *
 * Bytes that are known here are collected and written as one .ascii; what the assembler must fill
 * in stands between. */
#ifndef QUIPU_PASS_RECORD_H
#define QUIPU_PASS_RECORD_H

#include "util/buffer.h"

#include <stdint.h>

struct record {
    struct buffer *out;
    struct buffer bytes; /* not yet written */
};

void record_byte(struct record *record, unsigned value);
void record_number(struct record *record, uint64_t value); /* uleb128 */
void record_signed(struct record *record, int32_t value);  /* zigzag, uleb128: 0 -1 1 -2 ... */
void record_text(struct record *record, const char *text); /* with its NUL */

/* Writes what was collected.  What follows in OUT stands behind it. */
void flush_record(struct record *record);

/* Opens a note of KIND (format/notes.h) in OUT: its size is for the assembler to find out.  And
 * closes it.  LABEL is a number of a label that nothing else has. */
void begin_note(struct record *note, struct buffer *out, uint32_t label, unsigned kind);
void end_note(struct record *note, uint32_t label);

#endif
