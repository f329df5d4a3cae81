/* cursor.h: reads numbers and texts from bytes that may be invalid.
 *
 * A read beyond the end sets `failed`, and returns 0, "" or NULL. So a reader tests `failed` only
 * at the end of a record, and before it trusts a count. */
#ifndef QUIPU_UTIL_CURSOR_H
#define QUIPU_UTIL_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
    const uint8_t *next;
    const uint8_t *end;
    bool failed;
};

static inline size_t cursor_left(const struct cursor *cursor) {
    return (size_t)(cursor->end - cursor->next);
}

/* Returns the next SIZE bytes, at most 8, as a little-endian number. */
uint64_t cursor_number(struct cursor *cursor, size_t size);

/* Returns the next ULEB128 number (DWARF 5, section 7.6). Fails if it needs more than 64 bits. */
uint64_t cursor_uleb128(struct cursor *cursor);

/* The same. Also fails if the value is above LIMIT. */
uint64_t cursor_uleb128_to(struct cursor *cursor, uint64_t limit);

/* Returns the next SLEB128 number (DWARF 5, section 7.6). Bits beyond 64 are ignored. */
int64_t cursor_sleb128(struct cursor *cursor);

/* Returns the next NUL-terminated text. It is not copied. */
const char *cursor_text(struct cursor *cursor);

/* Returns the next SIZE bytes, or NULL if there are fewer. They are not copied. */
const uint8_t *cursor_bytes(struct cursor *cursor, size_t size);

#endif
