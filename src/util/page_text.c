/* page_text.c: JSON that stands in an HTML page; see page_text.h. */
#include "util/page_text.h"

#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>

static void add_escape(struct page_text *text, struct buffer *out) {
    char digits[PAGE_ESCAPE_LENGTH - 1] = {0};
    memcpy(digits, text->escape + 2, text->count - 2);
    uint32_t character = (uint32_t)strtoul(digits, NULL, 16);
    if (*digits && character != '\t' && character != '\r' && acts_on_terminal(character))
        buffer_text(out, "?");
    else
        buffer_add(out, text->escape, text->count);
    text->count = 0;
}

static void add_special(struct page_text *text, char c, struct buffer *out) {
    if (!text->count && c == '<') {
        buffer_text(out, "\\u003c");
        return;
    }
    text->escape[text->count++] = c;
    bool has_number = text->count > 1 && text->escape[1] == 'u';
    if (text->count == (has_number ? PAGE_ESCAPE_LENGTH : 2))
        add_escape(text, out);
}

void page_text_add(struct page_text *text, const char *json, size_t count, struct buffer *out) {
    for (const char *end = json + count; json < end;) {
        const char *plain = json;
        while (!text->count && json < end && *json != '<' && *json != '\\')
            json++;
        buffer_add(out, plain, (size_t)(json - plain));
        if (json < end)
            add_special(text, *json++, out);
    }
}
