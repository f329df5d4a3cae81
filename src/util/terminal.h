/* terminal.h: text of any origin, written where a terminal may read it.
 *
 * Names of files, symbols and arguments, and lines of source, may hold any byte.  Each byte that
 * acts on a terminal is written as '?': of control characters and those that turn text round
 * (utf8.h), and bytes that are no UTF-8.  Every byte stays one byte, so that columns keep their
 * width. */
#ifndef QUIPU_UTIL_TERMINAL_H
#define QUIPU_UTIL_TERMINAL_H

#include <stdarg.h>
#include <stdio.h>

/* Replaces such bytes in the NUL-terminated TEXT.  Returns TEXT. */
char *make_safe(char *text);

/* Writes TEXT so that nothing in it acts on the terminal, or begins a line. */
void write_safely(FILE *out, const char *text);

/* The same for LENGTH bytes of TEXT, where the characters ALLOWED are written as they are. */
void write_text_safely(FILE *out, const char *text, size_t length, const char *allowed);

/* The same for what FORMAT makes; line ends in it are replaced, too.  Text of more than 1,023 bytes
 * needs memory, and is cut where there is none. */
void print_safely(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* And a line end behind it. */
void print_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

void print_safely_list(FILE *out, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
