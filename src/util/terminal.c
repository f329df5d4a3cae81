/* terminal.c: writes text that may act on a terminal; see terminal.h. */
#include "util/terminal.h"

#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>

char *make_safe(char *text) {
    for (char *at = text; *at;) {
        size_t length = safe_length(at);
        if (!length)
            *at = '?';
        at += length ? length : 1;
    }
    return text;
}

void write_text_safely(FILE *out, const char *text, size_t length, const char *allowed) {
    const char *end = text + length;
    while (text < end) {
        size_t safe = *text && strchr(allowed, *text) ? 1 : safe_length(text);
        if (safe)
            fwrite(text, 1, safe, out);
        else
            fputc('?', out);
        text += safe ? safe : 1;
    }
}

void write_safely(FILE *out, const char *text) {
    write_text_safely(out, text, strlen(text), "");
}

void print_safely_list(FILE *out, const char *format, va_list arguments) {
    char few[1024];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(few, sizeof few, format, arguments);
    char *all = length >= (int)sizeof few ? malloc((size_t)length + 1) : NULL;
    if (all)
        vsnprintf(all, (size_t)length + 1, format, again);
    va_end(again);
    write_safely(out, all ? all : few);
    free(all);
}

void print_safely(FILE *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_safely_list(out, format, arguments);
    va_end(arguments);
}

void print_line(FILE *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_safely_list(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
}
