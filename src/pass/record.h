/* record.h: binary records as assembly text.
 *
 * Bytes that are known here are collected, and written as one .ascii. Values that the assembler
 * must compute are written between them. */
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

/* Writes the collected bytes. After that the caller can write to OUT. */
void flush_record(struct record *record);

/* Begin and end a note of KIND (format/notes.h) in OUT. The assembler computes its size. LABEL is
 * the number of a label that nothing else uses. */
void begin_note(struct record *note, struct buffer *out, uint32_t label, unsigned kind);
void end_note(struct record *note, uint32_t label);

#endif
