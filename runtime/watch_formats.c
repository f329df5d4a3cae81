/* watch_formats.c: what a call of snprintf or its like may write by its format, where the shim did
 * not know that (pass/watch_formats.c).
 *
 * Not perfect: conversions that the program has added are those of the C library here. */
#include "watch.h"

#include "data/watch_callees.h"

static bool is_one_of(char c, const char *list) {
    while (*list && *list != c)
        list++;
    return *list;
}

/* Reads a format one character at a time, in pieces; what cannot be read ends it. */
struct format {
    uint64_t next; /* the address behind the piece */
    unsigned at, count;
    char piece[64];
};

static char next_character(struct format *format) {
    if (format->at == format->count) {
        format->count =
            (unsigned)quipu_watch_read(format->piece, format->next, sizeof format->piece);
        format->next += format->count;
        format->at = 0;
    }
    return format->count ? format->piece[format->at++] : 0;
}

bool quipu_watch_writes_by_format(uint64_t address) {
    struct format format = {.next = address};
    for (char c = next_character(&format); c; c = next_character(&format)) {
        if (c != '%' || (c = next_character(&format)) == '%')
            continue;
        while (is_one_of(c, QUIPU_CONVERSION_FLAGS) || is_one_of(c, QUIPU_CONVERSION_SIZES))
            c = next_character(&format);
        if (!is_one_of(c, QUIPU_CONVERSION_ENDS))
            return true;
    }
    return false;
}
