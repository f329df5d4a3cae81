/* cursor.h: reading numbers and texts from bytes that may be anything.
 *
 * A read past the end sets `failed` and gives 0 or "": so a reader checks once, at the end of a
 * record, and before it trusts a count. */
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

/* SIZE bytes, at most 8, little endian. */
uint64_t cursor_number(struct cursor *cursor, size_t size);

/* ULEB128 (DWARF 5, section 7.6); a value that needs more than 64 bits fails. */
uint64_t cursor_uleb128(struct cursor *cursor);

/* The same; a value above LIMIT fails. */
uint64_t cursor_uleb128_to(struct cursor *cursor, uint64_t limit);

/* SLEB128 (DWARF 5, section 7.6); bits beyond 64 are dropped. */
int64_t cursor_sleb128(struct cursor *cursor);

/* NUL-terminated text, in place. */
const char *cursor_text(struct cursor *cursor);

/* SIZE bytes, in place; NULL where there are not that many. */
const uint8_t *cursor_bytes(struct cursor *cursor, size_t size);

#endif
