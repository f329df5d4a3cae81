/* diag.c: messages to the user; see diag.h. */
#include "util/diag.h"

#include "util/fault.h"
#include "util/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void print_message(const char *file, unsigned line, const char *severity, const char *format,
                          va_list arguments) {
    fflush(stdout);
    if (file) {
        write_safely(stderr, file);
        if (line)
            fprintf(stderr, ":%u", line);
        fprintf(stderr, ": %s: quipu: ", severity);
    } else {
        fprintf(stderr, "quipu: %s: ", severity);
    }
    print_safely_list(stderr, format, arguments);
    fputc('\n', stderr);
}

#define PRINT(file, line, severity)                                                                \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        print_message(file, line, severity, format, arguments);                                    \
        va_end(arguments);                                                                         \
    } while (0)

void warn_at(const char *file, unsigned line, const char *format, ...) {
    PRINT(file, line, "warning");
}

void error_at(const char *file, unsigned line, const char *format, ...) {
    PRINT(file, line, "error");
}

void warn(const char *format, ...) {
    PRINT(NULL, 0, "warning");
}

void error(const char *format, ...) {
    PRINT(NULL, 0, "error");
}

void die_at(const char *text, size_t where, const char *wrong) {
    error("%s", wrong);
    print_line(stderr, "    %s", text);
    fprintf(stderr, "    %*s\n", (int)where + 1, "^");
    exit(1);
}

void die(const char *format, ...) {
    PRINT(NULL, 0, "error");
    exit(1);
}

void check_failed(const char *file, int line, const char *condition) {
    char reason[256];
    snprintf(reason, sizeof reason, "'%s' does not hold (%s:%d)", condition, file, line);
    if (is_guarded())
        end_by_fault(reason);
    fprintf(stderr, "%s:%d: internal error: quipu: '%s' does not hold; please report this\n", file,
            line, condition);
    abort();
}
