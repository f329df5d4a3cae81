/* wanted.c: whether this process is to leave a data file.
 *
 * QUIPU_DATA=none: it is not. Nor is a program that configure, cmake or meson builds to find out
 * what the system has: thousands of such files would hide those of the user's program. They are
 * known by their names:
 *
 *     conftest                                  autoconf
 *     cmTC_*, or below a directory CMakeFiles   cmake's try_compile and try_run
 *     below a directory meson-private           meson
 *
 * QUIPU_PROBES=keep makes them leave their files all the same. */
#include "runtime/core/state.h"
#include "runtime/core/text.h"

#include <sys/auxv.h>

extern char **environ;

static bool begins_with(const char *text, const char *begin) {
    while (*begin && *text == *begin)
        text++, begin++;
    return !*begin;
}

static bool is_probe(const char *path) {
    const char *base = path;
    for (; *path; path++) {
        if (begins_with(path, "/CMakeFiles/") || begins_with(path, "/meson-private/"))
            return true;
        if (*path == '/')
            base = path + 1;
    }
    return text_equal(base, "conftest") || begins_with(base, "cmTC_");
}

/* Whether the variable whose name and '=' are PREFIX has VALUE. A privileged program ignores it. */
static bool is_set(const char *prefix, const char *value) {
    const char *text = getauxval(AT_SECURE) ? NULL : text_variable(environ, prefix);
    return text && text_equal(text, value);
}

bool quipu_wants_data(const char *program) {
    return !is_set("QUIPU_DATA=", "none") &&
           (!is_probe(program) || is_set("QUIPU_PROBES=", "keep"));
}
