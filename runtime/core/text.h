/* text.h: text built in a buffer of fixed size, without the C library.
 *
 * Invariant: data[length] is the NUL, and length < size. Text that does not fit is cut, and `cut`
 * is set. */
#ifndef QUIPU_RUNTIME_CORE_TEXT_H
#define QUIPU_RUNTIME_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *data; /* not owned */
    size_t size;
    size_t length;
    bool cut;
};

static inline void text_bytes(struct text *text, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (text->length + 1 >= text->size) {
            text->cut = true;
            break;
        }
        text->data[text->length++] = bytes[i];
    }
    text->data[text->length] = '\0';
}

static inline size_t text_length(const char *text) {
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

static inline void text_add(struct text *text, const char *more) {
    text_bytes(text, more, text_length(more));
}

static inline void text_number(struct text *text, uint64_t number) {
    char digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    text_bytes(text, digits + first, sizeof digits - first);
}

static inline bool bytes_equal(const void *a, const void *b, size_t count) {
    const unsigned char *left = a, *right = b;
    for (size_t i = 0; i < count; i++)
        if (left[i] != right[i])
            return false;
    return true;
}

static inline bool text_equal(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* Returns the value of the variable whose name and '=' are PREFIX, or NULL. */
static inline const char *text_variable(char **environment, const char *prefix) {
    size_t length = text_length(prefix);
    for (; environment && *environment; environment++) {
        size_t i = 0;
        while (i < length && (*environment)[i] == prefix[i])
            i++;
        if (i == length)
            return *environment + length;
    }
    return NULL;
}

#endif
