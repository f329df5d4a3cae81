/* terminal.h: writes text that may act on a terminal.
 *
 * Names of files, symbols and arguments, and lines of source, may contain any byte. Each byte that
 * acts on a terminal is written as '?': bytes of control characters, of characters that change the
 * direction of text (utf8.h), and bytes that are not UTF-8. Each of them becomes one '?', so that
 * columns keep their width. */
#ifndef QUIPU_UTIL_TERMINAL_H
#define QUIPU_UTIL_TERMINAL_H

#include <stdarg.h>
#include <stdio.h>

/* Replaces such bytes in the NUL-terminated TEXT. Returns TEXT. */
char *make_safe(char *text);

/* Writes TEXT. Nothing in it acts on the terminal, or begins a line. */
void write_safely(FILE *out, const char *text);

/* The same for LENGTH bytes of TEXT. The characters in ALLOWED are written unchanged. */
void write_text_safely(FILE *out, const char *text, size_t length, const char *allowed);

/* The same for FORMAT with its arguments; their line ends are replaced, too. A text of more than
 * 1,023 bytes needs memory. If there is none, it is truncated. */
void print_safely(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, with a line end behind it. */
void print_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

void print_safely_list(FILE *out, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
