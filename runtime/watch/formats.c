/* formats.c: what a call of snprintf and similar functions may write according to its format, if
 * the shim did not know the format (src/pass/watch/formats.c).
 *
 * Not perfect: conversions that the program has registered are treated as those of the C
 * library. */
#include "runtime/watch/watch.h"

#include "format/watch_callees.h"

static bool is_one_of(char c, const char *list) {
    while (*list && *list != c)
        list++;
    return *list;
}

/* The format is readable, since the callee is about to read it. */
bool quipu_watch_writes_by_format(uint64_t address) {
    if (!address)
        return true;
    for (const char *c = (const char *)address; *c; c++) {
        if (*c != '%' || *++c == '%')
            continue;
        while (is_one_of(*c, QUIPU_CONVERSION_FLAGS) || is_one_of(*c, QUIPU_CONVERSION_SIZES))
            c++;
        if (!is_one_of(*c, QUIPU_CONVERSION_ENDS))
            return true;
    }
    return false;
}
