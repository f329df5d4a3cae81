/* diag.h: what the tool tells its user.
 *
 *     foo.s:128: warning: quipu: 'bar': indirect jump with no table; function left as it is
 *
 * Bytes that would act on a terminal are shown as '?' (terminal.h).
 * Lower case, no full stop, the subject in single quotes, and what to do next.
 * Two kinds of failure: the user's (an error, exit status 1) and ours (check_failed), which ends
 * guarded work (fault.h), or else the program. */
#ifndef QUIPU_UTIL_DIAG_H
#define QUIPU_UTIL_DIAG_H

#include <stddef.h>

/* Messages about a place in a file.  FILE may be NULL, LINE 0: then they are left out. */
void warn_at(const char *file, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void error_at(const char *file, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Messages with no place. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An error WRONG in TEXT, which is shown below it with a mark at column WHERE, from 0.  Ends the
 * program with status 1. */
_Noreturn void die_at(const char *text, size_t where, const char *wrong);

/* An error that ends the program with status 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A fault of the tool's own: names the broken invariant and ends guarded work or the program. */
_Noreturn void check_failed(const char *file, int line, const char *condition);
#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

#endif
