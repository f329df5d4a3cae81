/* formats.c: what a call of snprintf or its like may write by its format, where the shim did
 * not know that (pass/watch_formats.c).
 *
 * Not perfect: conversions that the program has added are those of the C library here. */
#include "runtime/watch/watch.h"

#include "format/watch_callees.h"

static bool is_one_of(char c, const char *list) {
    while (*list && *list != c)
        list++;
    return *list;
}

/* The callee is about to read the format, too: it is there. */
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
