/* page_text.h: JSON that stands in an HTML page, so that text of a program neither ends the element
 * around it nor looks like another text. */
#ifndef QUIPU_UTIL_PAGE_TEXT_H
#define QUIPU_UTIL_PAGE_TEXT_H

#include "util/buffer.h"

enum {
    PAGE_ESCAPE_LENGTH = 6 /* of an escape of JSON with a number: \u202e */
};

/* How far the JSON is read. It begins with zeros. */
struct page_text {
    char escape[PAGE_ESCAPE_LENGTH]; /* the begin of an escape whose end is not there yet */
    size_t count;
};

/* Appends COUNT bytes of JSON, which may end anywhere, to OUT. Each '<' becomes an escape, and each
 * escape of a character that acts on a terminal (utf8.h) becomes '?', but for tabs and CR, which a
 * browser shows as blanks. In JSON, both are only within strings. The JSON must have escapes for
 * all such characters. */
void page_text_add(struct page_text *text, const char *json, size_t count, struct buffer *out);

#endif
