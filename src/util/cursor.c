/* cursor.c: reads numbers and texts from bytes that may be invalid; see cursor.h. */
#include "util/cursor.h"

#include <string.h>

const uint8_t *cursor_bytes(struct cursor *cursor, size_t size) {
    if (cursor->failed || cursor_left(cursor) < size) {
        cursor->failed = true;
        return NULL;
    }
    const uint8_t *bytes = cursor->next;
    cursor->next += size;
    return bytes;
}

uint64_t cursor_number(struct cursor *cursor, size_t size) {
    const uint8_t *bytes = cursor_bytes(cursor, size);
    uint64_t value = 0;
    for (size_t i = size; bytes && i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

uint64_t cursor_uleb128(struct cursor *cursor) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t *byte = cursor_bytes(cursor, 1);
        if (!byte)
            return 0;
        uint64_t bits = *byte & 0x7f;
        if (shift > 63 || (bits << shift) >> shift != bits) {
            cursor->failed = true;
            return 0;
        }
        value |= bits << shift;
        if (!(*byte & 0x80))
            return value;
    }
}

uint64_t cursor_uleb128_to(struct cursor *cursor, uint64_t limit) {
    uint64_t value = cursor_uleb128(cursor);
    if (value <= limit)
        return value;
    cursor->failed = true;
    return 0;
}

int64_t cursor_sleb128(struct cursor *cursor) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t *byte = cursor_bytes(cursor, 1);
        if (!byte)
            return 0;
        if (shift < 64)
            value |= (uint64_t)(*byte & 0x7f) << shift;
        if (*byte & 0x80)
            continue;
        if (*byte & 0x40 && shift + 7 < 64)
            value |= UINT64_MAX << (shift + 7);
        return (int64_t)value;
    }
}

const char *cursor_text(struct cursor *cursor) {
    const uint8_t *end = cursor->failed ? NULL : memchr(cursor->next, 0, cursor_left(cursor));
    if (!end) {
        cursor->failed = true;
        return "";
    }
    const char *text = (const char *)cursor->next;
    cursor->next = end + 1;
    return text;
}
