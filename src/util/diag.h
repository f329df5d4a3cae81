/* diag.h: messages to the user.
 *
 *     foo.s:128: warning: quipu: 'bar': indirect jump with no table; function left as it is
 *
 * A message is in lower case and has no full stop. Its subject is in single quotes. It says what to
 * do next. Bytes that would act on a terminal are shown as '?' (terminal.h).
 *
 * There are two kinds of failures. A failure of the user's is an error, with exit status 1. A
 * failure of quipu's own (check_failed) ends guarded work (fault.h), or else the program. */
#ifndef QUIPU_UTIL_DIAG_H
#define QUIPU_UTIL_DIAG_H

#include <stddef.h>

/* Print a message about line LINE of FILE. With LINE 0 no line is named, with FILE NULL neither
 * file nor line. */
void warn_at(const char *file, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void error_at(const char *file, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Print a message without a file. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the error WRONG, and TEXT below it with a mark at column WHERE, from 0. Ends the program
 * with status 1. */
_Noreturn void die_at(const char *text, size_t where, const char *wrong);

/* Prints an error, and ends the program with status 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports a failure of quipu's own, with the CONDITION that does not hold. Ends guarded work, or
 * the program. */
_Noreturn void check_failed(const char *file, int line, const char *condition);
#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

#endif
