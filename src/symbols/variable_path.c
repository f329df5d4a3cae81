/* variable_path.c: the names of a variable; see variable_path.h. */
#include "symbols/variable_path.h"

#include "symbols/demangle.h"
#include "symbols/scopes.h"
#include "symbols/spelling.h"

#include <dwarf.h>
#include <string.h>

const char *join_path(struct arena *arena, const char *path, const char *name) {
    return *path ? arena_print(arena, "%s::%s", path, name) : name;
}

const char *linkage_name(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ? dwarf_formstring(&attribute)
                                                                     : NULL;
}

const struct scope *enter_scope(struct arena *arena, const struct scope *around, Dwarf_Die *die,
                                const char *name) {
    struct scope *scope = ARENA_NEW(arena, struct scope);
    *scope =
        (struct scope){.around = around,
                       .name = name,
                       .symbol = dwarf_tag(die) == DW_TAG_subprogram ? linkage_name(die) : NULL,
                       .is_optional = dwarf_hasattr(die, DW_AT_export_symbols)};
    return scope;
}

const struct scope *declared_scope(struct arena *arena, const struct binary *binary,
                                   Dwarf_Die *declaration) {
    Dwarf_Die scopes[SCOPES_MAX];
    const struct scope *scope = NULL;
    int count = scopes_around(binary->scopes, declaration, scopes);
    for (int i = count - 1; i > 0; i--) {
        const char *name = dwarf_diename(&scopes[i]);
        if (name && dwarf_tag(&scopes[i]) != DW_TAG_compile_unit)
            scope = enter_scope(arena, scope, &scopes[i], name);
    }
    return scope;
}

static const char *scope_path(struct arena *arena, const struct scope *scope, bool brief) {
    if (!scope)
        return "";
    const char *above = scope_path(arena, scope->around, brief);
    return brief && scope->is_optional ? above : join_path(arena, above, scope->name);
}

const char *path_above(struct arena *arena, const struct binary *binary, Dwarf_Die *die) {
    return scope_path(arena, declared_scope(arena, binary, die), false);
}

const char *variable_path(struct arena *arena, const struct variable *variable, bool brief) {
    return join_path(arena, scope_path(arena, variable->scope, brief), variable->name);
}

const char *variable_parameters(struct arena *arena, const struct variable *variable) {
    const char *symbol = variable->scope ? variable->scope->symbol : NULL;
    const char *whole = symbol ? demangle(arena, symbol) : "";
    const char *end = strrchr(whole, ')'), *begin = end;
    for (size_t depth = 0; begin && begin >= whole; begin--) {
        depth += *begin == ')';
        depth -= *begin == '(';
        if (!depth)
            return one_parameters(arena, begin, (size_t)(end + 1 - begin));
    }
    return NULL;
}
