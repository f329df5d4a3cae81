/* variable_path.h: the scopes around a variable, and the names by which it is found in them. Names
 * are made when they are needed: a large program has millions of variables. */
#ifndef QUIPU_SYMBOLS_VARIABLE_PATH_H
#define QUIPU_SYMBOLS_VARIABLE_PATH_H

#include "symbols/variables.h"

/* A namespace, class, function or enumeration with a name. */
struct scope {
    const struct scope *around; /* NULL: none */
    const char *name;
    /* of the innermost function, without a class between: the symbol, which shows its parameters;
     * NULL: unknown */
    const char *symbol;
    bool is_optional; /* an inline namespace, or an enumeration whose constants do not need it */
};

/* Returns the symbol of the variable or function DIE, or NULL if it has none of its own. */
const char *linkage_name(Dwarf_Die *die);

/* Returns DIE, whose name is NAME, as a scope in AROUND. */
const struct scope *enter_scope(struct arena *arena, const struct scope *around, Dwarf_Die *die,
                                const char *name);

/* Returns the scopes around the entry DECLARATION of the debug information. */
const struct scope *declared_scope(struct arena *arena, const struct binary *binary,
                                   Dwarf_Die *declaration);

/* Returns the variable's path, "app::v2::config"; BRIEF: without optional scopes. */
const char *variable_path(struct arena *arena, const struct variable *variable, bool brief);

/* Returns the parameters of the function that is the variable's innermost scope, in one spelling:
 * "(int)"; NULL: unknown. */
const char *variable_parameters(struct arena *arena, const struct variable *variable);

#endif
