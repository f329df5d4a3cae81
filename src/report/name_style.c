/* name_style.c: the form in which text shows names; see name_style.h. */
#include "report/name_style.h"

#include "symbols/demangle.h"
#include "util/buffer.h"
#include "util/near.h"

#include <string.h>

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

/* Returns the length of the symbol at the begin of TEXT; 0: there is none. */
static size_t symbol_length(const char *text) {
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$");
}

/* Mangled symbols begin with '_' (symbols/demangle.h). Most text has none, and stays as it is. */
const char *styled_symbols(struct arena *arena, enum name_style style, const char *text) {
    struct buffer styled = {0};
    if (!strchr(text, '_'))
        return text;
    for (size_t length; *text; text += length) {
        length = symbol_length(text);
        if (*text != '_') {
            length = length ? length : 1;
            buffer_add(&styled, text, length);
            continue;
        }
        const char *symbol = arena_copy(arena, text, length);
        const char *demangled = demangle(arena, symbol);
        buffer_text(&styled,
                    demangled == symbol ? symbol : styled_name(arena, style, symbol, demangled));
    }
    const char *result = arena_copy(arena, styled.data, styled.count);
    buffer_release(&styled);
    return result;
}
