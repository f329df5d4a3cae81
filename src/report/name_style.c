/* name_style.c: the form in which text shows names; see name_style.h. */
#include "report/name_style.h"

#include "symbols/demangle.h"
#include "util/near.h"

#include <stddef.h>

static const char *const style_names[] = {
    [NAMES_SHORT] = "short", [NAMES_FULL] = "full", [NAMES_MANGLED] = "mangled"};

static const char *style_name_at(size_t i) {
    return i < sizeof style_names / sizeof *style_names ? style_names[i] : NULL;
}

enum name_style choose_name_style(const char *name) {
    return (enum name_style)choose_name("--names", "form of names", name, style_name_at);
}

const char *styled_name(struct arena *arena, enum name_style style, const char *symbol,
                        const char *demangled) {
    if (style == NAMES_MANGLED)
        return *symbol ? symbol : demangled;
    return style == NAMES_SHORT ? short_name(arena, demangled) : demangled;
}
