/* name_style.h: the form in which text shows the names of functions, from --names=STYLE. JSON and
 * CSV always have the symbol and the whole demangled name. */
#ifndef QUIPU_REPORT_NAME_STYLE_H
#define QUIPU_REPORT_NAME_STYLE_H

#include "util/arena.h"

enum name_style {
    NAMES_SHORT,   /* demangled; long names lose long arguments and the return type */
    NAMES_FULL,    /* demangled */
    NAMES_MANGLED, /* as the symbol table has them */
};

/* Returns the style with that NAME. An unknown name ends the program with an error. */
enum name_style choose_name_style(const char *name);

/* Returns the name of a function in that STYLE. SYMBOL is "" if it is not known. */
const char *styled_name(struct arena *arena, enum name_style style, const char *symbol,
                        const char *demangled);

/* Returns TEXT, such as "call puts@plt" or "table+0x8", with its mangled symbols in that STYLE. */
const char *styled_symbols(struct arena *arena, enum name_style style, const char *text);

#endif
