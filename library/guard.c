/* guard.c: messages of the library; see guard.h. It takes the place of src/util/diag.c, so it has
 * all its functions. There are no warnings: nobody would read them. */
#include "library/guard.h"

#include "util/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local struct guard *present;

bool run_in_guard(struct guard *guard, void (*work)(void *context), void *context) {
    struct guard **of_thread = &present; /* in a shared library each look costs a call */
    guard->outer = *of_thread;
    if (setjmp(guard->place) != 0)
        return false;
    *of_thread = guard;
    work(context);
    *of_thread = guard->outer;
    return true;
}

static _Noreturn void leave(void) {
    struct guard *guard = present;
    if (!guard)
        abort(); /* a call of the interface has forgotten it */
    present = guard->outer;
    longjmp(guard->place, 1);
}

static void set_message(const char *format, va_list arguments) {
    if (present)
        vsnprintf(present->message, sizeof present->message, format, arguments);
}

void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_message(format, arguments);
    va_end(arguments);
    leave();
}

void die_at(const char *text, size_t where, const char *wrong) {
    (void)text;
    (void)where;
    die("%s", wrong);
}

void check_failed(const char *file, int line, const char *condition) {
    die("internal error: '%s' does not hold (%s:%d)", condition, file, line);
}

void warn_at(const char *file, unsigned line, const char *format, ...) {
    (void)file;
    (void)line;
    (void)format;
}

void error_at(const char *file, unsigned line, const char *format, ...) {
    (void)file;
    (void)line;
    (void)format;
}

void warn(const char *format, ...) {
    (void)format;
}

void error(const char *format, ...) {
    (void)format;
}
