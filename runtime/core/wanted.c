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

bool quipu_wants_data(const char *program) {
    bool privileged = getauxval(AT_SECURE) != 0;
    const char *data = privileged ? NULL : text_variable(environ, "QUIPU_DATA=");
    const char *probes = privileged ? NULL : text_variable(environ, "QUIPU_PROBES=");
    if (data && text_equal(data, "none"))
        return false;
    return !is_probe(program) || (probes && text_equal(probes, "keep"));
}
