/* record.c: binary records as assembly text; see record.h. */
#include "pass/record.h"

#include "format/notes.h"

#include <string.h>

static void write_ascii(struct buffer *out, const void *bytes, size_t count) {
    const unsigned char *c = bytes;
    buffer_text(out, "\t.ascii \"");
    for (size_t i = 0; i < count; i++) {
        if (c[i] >= ' ' && c[i] < 0x7f && c[i] != '"' && c[i] != '\\') {
            buffer_add(out, &c[i], 1);
        } else {
            char octal[4] = {'\\', (char)('0' + (c[i] >> 6)), (char)('0' + (c[i] >> 3 & 7)),
                             (char)('0' + (c[i] & 7))};
            buffer_add(out, octal, 4);
        }
    }
    buffer_text(out, "\"\n");
}

void record_byte(struct record *record, unsigned value) {
    unsigned char byte = (unsigned char)value;
    buffer_add(&record->bytes, &byte, 1);
}

void record_number(struct record *record, uint64_t value) {
    buffer_uleb128(&record->bytes, value);
}

void record_signed(struct record *record, int32_t value) {
    record_number(record, (uint32_t)value << 1 ^ (value < 0 ? UINT32_MAX : 0));
}

void record_text(struct record *record, const char *text) {
    buffer_add(&record->bytes, text, strlen(text) + 1);
}

void flush_record(struct record *record) {
    if (record->bytes.count)
        write_ascii(record->out, record->bytes.data, record->bytes.count);
    record->bytes.count = 0;
}

void begin_note(struct record *note, struct buffer *out, uint32_t label, unsigned kind) {
    *note = (struct record){.out = out};
    buffer_print(out, ".LQx%u:\n\t.long .LQy%u-.LQx%u\n", label, label, label);
    record_byte(note, kind);
    record_byte(note, QUIPU_NOTE_VERSION);
}

void end_note(struct record *note, uint32_t label) {
    flush_record(note);
    buffer_print(note->out, ".LQy%u:\n", label);
    buffer_release(&note->bytes);
}
