/* row_buffer.h: builds rows of text or bytes for a stream, fast: a trace has billions of them.
 *
 * Errors stay in the stream: test ferror at the end. */
#ifndef QUIPU_TRACE_ROW_BUFFER_H
#define QUIPU_TRACE_ROW_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    ROW_BUFFER_SIZE = 1 << 16,
    DIGITS_MAX = 20 /* of 64 bits, in decimal */
};

/* The bytes that OUT does not have yet. */
struct row_buffer {
    FILE *out; /* not owned */
    size_t count;
    char bytes[ROW_BUFFER_SIZE];
};

static inline void flush_rows(struct row_buffer *buffer) {
    fwrite(buffer->bytes, 1, buffer->count, buffer->out);
    buffer->count = 0;
}

static inline void put_bytes(struct row_buffer *buffer, const void *bytes, size_t count) {
    if (count > sizeof buffer->bytes - buffer->count)
        flush_rows(buffer);
    if (count > sizeof buffer->bytes) {
        fwrite(bytes, 1, count, buffer->out);
        return;
    }
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

static inline void put_text(struct row_buffer *buffer, const char *text) {
    put_bytes(buffer, text, strlen(text));
}

static inline void put_decimal(struct row_buffer *buffer, uint64_t number) {
    char digits[DIGITS_MAX], *first = digits + sizeof digits;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    put_bytes(buffer, first, (size_t)(digits + sizeof digits - first));
}

/* Writes NUMBER in hexadecimal, with at least LEAST digits, at most 16. */
static inline void put_hexadecimal(struct row_buffer *buffer, uint64_t number, int least) {
    char digits[DIGITS_MAX], *end = digits + sizeof digits, *first = end;
    do
        *--first = "0123456789abcdef"[number & 15];
    while (number >>= 4);
    while (end - first < least)
        *--first = '0';
    put_bytes(buffer, first, (size_t)(end - first));
}

#endif
