/* variables.c: variables by name; see variables.h.
 *
 * quipu reads the whole tree of debug information once, through namespaces, classes, functions and
 * their blocks. A static variable of an inlined function is in the function's abstract tree. The
 * definition of a C++ variable refers to its declaration, and the scopes around that give its path.
 * locate.c finds the variable's location, variable_path.c makes its names. */
#include "symbols/variables.h"

#include "symbols/demangle.h"
#include "symbols/locate.h"
#include "symbols/variable_path.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 64,
    ORIGINS_MAX = 4 /* from one entry to the next */
};

struct place {
    const char *file;
    const struct scope *scope;
    Dwarf_Die *function;  /* NULL: outside of all functions */
    bool is_inlined;      /* in an inlined instance, which is in `function` */
    bool ignores_case;    /* the unit's language does */
    bool has_enum_scopes; /* it is C++: "state::done", or without the enumeration's name */
    unsigned depth;
};

static void take_children(struct variables *variables, Dwarf_Die *parent, struct place place);

/* ---- one variable ---- */

/* Returns the scopes around DIE, or around its declaration if that is somewhere else. */
static const struct scope *scope_around(const struct variables *variables, Dwarf_Die *die,
                                        const struct place *place) {
    Dwarf_Attribute attribute;
    Dwarf_Die declaration;
    return dwarf_attr(die, DW_AT_specification, &attribute) &&
                   dwarf_formref_die(&attribute, &declaration)
               ? declared_scope(variables->arena, variables->binary, &declaration)
               : place->scope;
}

/* Whether SYMBOL contains NAME with arguments of a template. */
static bool has_arguments(const char *symbol, const char *name) {
    size_t length = strlen(name);
    for (const char *at = symbol; (at = strstr(at, name)); at++)
        if (at > symbol && isdigit((unsigned char)at[-1]) && at[length] == 'I')
            return true;
    return false;
}

/* Returns NAME with its template's arguments. gcc has them only in the symbol. */
static const char *name_with_arguments(struct arena *arena, Dwarf_Die *die, const char *name) {
    const char *symbol = linkage_name(die);
    if (!symbol || !has_arguments(symbol, name) || symbol[strlen(symbol) - 1] != 'E')
        return name;
    const char *whole = plain_name(arena, symbol);
    size_t end = strlen(whole), at = end, depth = 0, length = strlen(name);
    do {
        at -= at != 0;
        depth += whole[at] == '>';
        depth -= depth && whole[at] == '<';
    } while (depth && at);
    bool good = at + 1 < end && at >= length && memcmp(whole + at - length, name, length) == 0;
    return good ? whole + at - length : name;
}

static void take_variable(struct variables *variables, Dwarf_Die *die, const struct place *place) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    const char *name = dwarf_diename(die);
    if (!name && dwarf_attr_integrate(die, DW_AT_name, &attribute))
        name = dwarf_formstring(&attribute);
    if (!name || dwarf_hasattr(die, DW_AT_declaration))
        return;
    name = name_with_arguments(variables->arena, die, name);
    struct variable variable = {.name = name,
                                .scope = scope_around(variables, die, place),
                                .file = place->file,
                                .ignores_case = place->ignores_case};
    variable.external = dwarf_hasattr_integrate(die, DW_AT_external);
    variable.entry_of_it = dwarf_dieoffset(die);
    variable.origin =
        dwarf_attr(die, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin)
            ? dwarf_dieoffset(&origin)
            : variable.entry_of_it;
    variable.is_inlined = place->is_inlined;
    locate_variable(variables, &variable, die, place->function);
    if (!variable.cause)
        variable.type = type_of(variables->binary, die);
    vector_push(variables->arena, &variables->all, variable);
}

static void take_constants(struct variables *variables, Dwarf_Die *parent,
                           const struct place *place) {
    Dwarf_Die die;
    const char *own = place->has_enum_scopes ? dwarf_diename(parent) : NULL;
    if (dwarf_child(parent, &die) != 0)
        return;
    struct scope *scope = ARENA_NEW(variables->arena, struct scope);
    *scope = (struct scope){.around = place->scope,
                            .name = own,
                            .symbol = place->scope ? place->scope->symbol : NULL,
                            .is_optional = !dwarf_hasattr(parent, DW_AT_enum_class)};
    do {
        int64_t value = 0;
        const char *name = dwarf_diename(&die);
        if (!name || !constant_value(&die, &value))
            continue;
        struct variable constant = {.name = name,
                                    .scope = own ? scope : place->scope,
                                    .file = place->file,
                                    .ignores_case = place->ignores_case,
                                    .external = true,
                                    .is_constant = true,
                                    .value = value};
        vector_push(variables->arena, &variables->all, constant);
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* ---- the walk ---- */

static void take_die(struct variables *variables, Dwarf_Die *die, const struct place *place) {
    struct place inner = *place;
    const char *name = NULL;
    inner.depth++;
    switch (dwarf_tag(die)) {
    case DW_TAG_variable:
    case DW_TAG_formal_parameter:
        take_variable(variables, die, place);
        return;
    case DW_TAG_enumeration_type:
        take_constants(variables, die, place);
        return;
    case DW_TAG_subprogram:
        inner.function = die;
        inner.is_inlined = false;
        /* fall through */
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_common_block:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        name = dwarf_diename(die);
        if (name)
            inner.scope =
                enter_scope(variables->arena, scope_around(variables, die, place), die, name);
        break;
    case DW_TAG_inlined_subroutine: /* its variables have the paths of their origins */
        inner.is_inlined = true;
        break;
    case DW_TAG_lexical_block:
        break;
    default:
        return;
    }
    take_children(variables, die, inner);
}

static void take_children(struct variables *variables, Dwarf_Die *parent, struct place place) {
    Dwarf_Die die;
    if (place.depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do
        take_die(variables, &die, &place);
    while (dwarf_siblingof(&die, &die) == 0);
}

static int compare_entries(const void *left, const void *right) {
    const struct variable *const *a = left, *const *b = right;
    return (*a)->entry_of_it < (*b)->entry_of_it ? -1 : (*a)->entry_of_it > (*b)->entry_of_it;
}

/* Returns the variable whose entry is at OFFSET, or NULL. */
static const struct variable *variable_at(const struct variable **sorted, size_t count,
                                          Dwarf_Off offset) {
    struct variable wanted = {.entry_of_it = offset};
    const struct variable *key = &wanted;
    const struct variable **found = bsearch(&key, sorted, count, sizeof *sorted, compare_entries);
    return found ? *found : NULL;
}

/* A variable of an inlined instance gets the names of its origin. So does one of a unit that
 * link-time optimization has made, which has no name of its own and contains the variables of all
 * source files. Constants have no entry, and keep theirs. */
static void name_by_origins(struct variables *variables) {
    size_t count = variables->all.count;
    const struct variable **sorted = ARENA_ARRAY(variables->arena, const struct variable *, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &variables->all.data[i];
    if (count)
        qsort(sorted, count, sizeof *sorted, compare_entries);
    for (size_t i = 0; i < count; i++) {
        struct variable *variable = &variables->all.data[i];
        const struct variable *origin = variable;
        for (unsigned steps = 0; origin->origin && steps < ORIGINS_MAX; steps++) {
            const struct variable *next = variable_at(sorted, count, origin->origin);
            if (!next || next == origin)
                break;
            origin = next;
        }
        if (origin == variable)
            continue;
        variable->scope = origin->scope;
        variable->file = origin->file;
    }
}

const char *read_variables(struct arena *arena, const struct binary *binary,
                           struct variables *variables) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;
    *variables = (struct variables){.arena = arena, .binary = binary};
    if (!binary->dwarf)
        return "it has no debug information; build it with -g";
    variables->frames = dwarf_getcfi_elf(binary->elf);
    while (next_unit(binary->dwarf, &unit, &top)) {
        const char *file = dwarf_diename(&top);
        struct place place = {.file = file ? file : "",
                              .ignores_case = is_fortran(&top),
                              .has_enum_scopes = is_cxx(&top)};
        variables->has_fortran |= place.ignores_case;
        take_children(variables, &top, place);
    }
    if (variables->frames)
        dwarf_cfi_end(variables->frames);
    variables->frames = NULL;
    name_by_origins(variables);
    return NULL;
}
