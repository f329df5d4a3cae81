/* wanted.c: whether this process is to leave a data file.
 *
 * QUIPU_DATA=none: it is not. Nor is a program that configure, cmake or meson builds to find out
 * what the system has: thousands of such files would hide those of the user's program. They are
 * known by their names:
 *
 *     conftest, or a.out beside confdefs.h      autoconf; the second until version 2.52
 *     cmTC_*, or below a directory CMakeFiles   cmake's try_compile and try_run
 *     below a directory meson-private           meson
 *
 * QUIPU_PROBES=keep makes them leave their files all the same. */
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"

#include <sys/auxv.h>

extern char **environ;

static bool begins_with(const char *text, const char *begin) {
    while (*begin && *text == *begin)
        text++, begin++;
    return !*begin;
}

/* Whether the directory of PATH, whose last part is BASE, has the header that autoconf makes for
 * its probes. */
static bool is_beside_confdefs(const char *path, const char *base) {
    char data[PATH_SIZE];
    struct text text = {.data = data, .size = sizeof data};
    text_bytes(&text, path, (size_t)(base - path));
    text_add(&text, "confdefs.h");
    return !text.cut && SYSTEM_CALL(access, data, 0 /* F_OK */, 0, 0, 0, 0) == 0;
}

static bool is_probe(const char *path) {
    const char *whole = path, *base = path;
    for (; *path; path++) {
        if (begins_with(path, "/CMakeFiles/") || begins_with(path, "/meson-private/"))
            return true;
        if (*path == '/')
            base = path + 1;
    }
    return text_equal(base, "conftest") || begins_with(base, "cmTC_") ||
           (text_equal(base, "a.out") && is_beside_confdefs(whole, base));
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
