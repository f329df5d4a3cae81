/* variables.c: variables by name; see variables.h.
 *
 * quipu reads the whole tree of debug information once, through namespaces, classes, functions and
 * their blocks. A static variable of an inlined function is in the function's abstract tree. The
 * definition of a C++ variable refers to its declaration, and the scopes around that give its path.
 * locate.c finds the variable's location. */
#include "symbols/variables.h"

#include "symbols/demangle.h"
#include "symbols/locate.h"
#include "symbols/scopes.h"
#include "symbols/spelling.h"
#include "util/near.h"
#include "util/path.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    DEPTH_MAX = 64,
    LISTED_MAX = 3,
};

/* The scopes around an entry: "app::v2::config". */
struct scope {
    const char *path;
    const char *brief;      /* without inline namespaces: "app::config" */
    const char *parameters; /* of the innermost scope, if it is a function */
};

struct place {
    const char *file;
    struct scope scope;
    Dwarf_Die *function;  /* NULL: outside of all functions */
    bool is_inlined;      /* in an inlined instance, which is in `function` */
    bool ignores_case;    /* the unit's language does */
    bool has_enum_scopes; /* it is C++: "state::done", or without the enumeration's name */
    unsigned depth;
};

static void take_children(struct variables *variables, Dwarf_Die *parent, struct place place);

/* ---- one variable ---- */

const char *join_path(struct arena *arena, const char *path, const char *name) {
    return *path ? arena_print(arena, "%s::%s", path, name) : name;
}

static const char *symbol_of(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ? dwarf_formstring(&attribute)
                                                                     : NULL;
}

/* Returns the parameters of the function DIE in one spelling; NULL if no symbol shows them. */
static const char *parameters_of(struct arena *arena, Dwarf_Die *die) {
    const char *symbol = symbol_of(die), *whole = symbol ? demangle(arena, symbol) : "";
    const char *end = strrchr(whole, ')'), *begin = end;
    for (size_t depth = 0; begin && begin >= whole; begin--) {
        depth += *begin == ')';
        depth -= *begin == '(';
        if (!depth)
            return one_parameters(arena, begin, (size_t)(end + 1 - begin));
    }
    return NULL;
}

/* Returns SCOPE with DIE, whose name is NAME, as its innermost scope. */
static struct scope enter_scope(struct arena *arena, struct scope scope, Dwarf_Die *die,
                                const char *name) {
    bool is_function = dwarf_tag(die) == DW_TAG_subprogram;
    if (!dwarf_hasattr(die, DW_AT_export_symbols))
        scope.brief = join_path(arena, scope.brief, name);
    scope.path = join_path(arena, scope.path, name);
    scope.parameters = is_function ? parameters_of(arena, die) : NULL;
    return scope;
}

/* Returns the scopes around DECLARATION, whose definition is in another scope. */
static struct scope declared_scope(struct arena *arena, const struct binary *binary,
                                   Dwarf_Die *declaration) {
    Dwarf_Die scopes[SCOPES_MAX];
    struct scope scope = {"", "", NULL};
    int count = scopes_around(binary->scopes, declaration, scopes);
    for (int i = count - 1; i > 0; i--) {
        const char *name = dwarf_diename(&scopes[i]);
        if (name && dwarf_tag(&scopes[i]) != DW_TAG_compile_unit)
            scope = enter_scope(arena, scope, &scopes[i], name);
    }
    return scope;
}

const char *path_above(struct arena *arena, const struct binary *binary, Dwarf_Die *die) {
    return declared_scope(arena, binary, die).path;
}

/* Returns the scopes around DIE, or around its declaration if that is somewhere else. */
static struct scope scope_around(const struct variables *variables, Dwarf_Die *die,
                                 const struct place *place) {
    Dwarf_Attribute attribute;
    Dwarf_Die declaration;
    return dwarf_attr(die, DW_AT_specification, &attribute) &&
                   dwarf_formref_die(&attribute, &declaration)
               ? declared_scope(variables->arena, variables->binary, &declaration)
               : place->scope;
}

/* Returns NAME with its template's arguments. gcc has them only in the symbol. */
static const char *name_with_arguments(struct arena *arena, Dwarf_Die *die, const char *name) {
    const char *symbol = symbol_of(die);
    if (!symbol || !*symbol || symbol[strlen(symbol) - 1] != 'E')
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

/* Sets the names by which VARIABLE, whose name is set, is found in SCOPE. */
static void set_names(struct arena *arena, struct variable *variable, const struct scope *scope) {
    variable->path = join_path(arena, scope->path, variable->name);
    variable->key = one_spelling(arena, variable->path);
    variable->brief = one_spelling(arena, join_path(arena, scope->brief, variable->name));
    variable->parameters = scope->parameters;
}

static void take_variable(struct variables *variables, Dwarf_Die *die, const struct place *place) {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    const char *name = dwarf_diename(die);
    struct scope scope = scope_around(variables, die, place);
    if (!name && dwarf_attr_integrate(die, DW_AT_name, &attribute))
        name = dwarf_formstring(&attribute);
    if (!name || dwarf_hasattr(die, DW_AT_declaration))
        return;
    name = name_with_arguments(variables->arena, die, name);
    struct variable variable = {
        .name = name, .file = place->file, .ignores_case = place->ignores_case};
    set_names(variables->arena, &variable, &scope);
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
    struct scope scope = place->scope;
    if (dwarf_child(parent, &die) != 0)
        return;
    if (own)
        scope.path = join_path(variables->arena, scope.path, own);
    if (own && dwarf_hasattr(parent, DW_AT_enum_class))
        scope.brief = join_path(variables->arena, scope.brief, own);
    do {
        int64_t value = 0;
        const char *name = dwarf_diename(&die);
        if (!name || !constant_value(&die, &value))
            continue;
        struct variable constant = {.name = name,
                                    .file = place->file,
                                    .ignores_case = place->ignores_case,
                                    .external = true,
                                    .is_constant = true,
                                    .value = value};
        set_names(variables->arena, &constant, &scope);
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

/* A variable of an inlined instance gets the names of its origin. */
static void name_inlined(struct variables *variables) {
    size_t count = variables->all.count;
    const struct variable **sorted = ARENA_ARRAY(variables->arena, const struct variable *, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &variables->all.data[i];
    if (count)
        qsort(sorted, count, sizeof *sorted, compare_entries);
    for (size_t i = 0; i < count; i++) {
        struct variable *variable = &variables->all.data[i];
        struct variable wanted = {.entry_of_it = variable->origin};
        const struct variable *key = &wanted, **found = NULL;
        if (variable->is_inlined)
            found = bsearch(&key, sorted, count, sizeof *sorted, compare_entries);
        if (!found || *found == variable)
            continue;
        variable->path = (*found)->path;
        variable->key = (*found)->key;
        variable->brief = (*found)->brief;
        variable->parameters = (*found)->parameters;
        variable->file = (*found)->file;
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
                              .scope = {"", "", NULL},
                              .ignores_case = is_fortran(&top),
                              .has_enum_scopes = is_cxx(&top)};
        variables->has_fortran |= place.ignores_case;
        take_children(variables, &top, place);
    }
    if (variables->frames)
        dwarf_cfi_end(variables->frames);
    variables->frames = NULL;
    name_inlined(variables);
    return NULL;
}

/* ---- finding ---- */

static bool is_file(const char *file, const char *wanted, size_t length) {
    size_t own = strlen(file);
    return own >= length && memcmp(file + own - length, wanted, length) == 0 &&
           (own == length || file[own - length - 1] == '/');
}

bool is_source(const struct variables *variables, const char *file, size_t length) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;
    while (next_unit(variables->binary->dwarf, &unit, &top)) {
        const char *own = dwarf_diename(&top);
        if (own && is_file(own, file, length))
            return true;
    }
    return false;
}

const char *no_source(const struct variables *variables, const char *file) {
    struct near_names near_names = {.wanted = last_part(file)};
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;
    while (next_unit(variables->binary->dwarf, &unit, &top)) {
        const char *own = dwarf_diename(&top);
        if (own)
            offer_name(&near_names, last_part(own));
    }
    return arena_print(variables->arena, "there is no source file '%s'%s", file,
                       suggest(variables->arena, &near_names));
}

/* Returns the length of KEY. If NAME has no arguments of the variable's template, KEY's are not
 * counted. */
static size_t key_length(const char *key, const char *name) {
    size_t length = strlen(key), depth = 0;
    if (!length || key[length - 1] != '>' || name[strlen(name) - 1] == '>')
        return length;
    do {
        length--;
        depth += key[length] == '>';
        depth -= key[length] == '<';
    } while (depth && length);
    return length;
}

/* A name that is searched for. */
struct wanted {
    const char *key;        /* in one spelling */
    const char *parameters; /* of the function in front of the last "::"; NULL: any */
    bool is_bare;           /* compare without the arguments of any template */
};

enum match {
    MATCH_NONE,
    MATCH_END,
    MATCH_WHOLE
};

static enum match match_key(const char *key, const char *name, bool ignores_case) {
    size_t length = strlen(name), path = length ? key_length(key, name) : 0;
    if (!length || path < length)
        return MATCH_NONE;
    const char *end = key + path - length;
    if ((ignores_case ? strncasecmp(end, name, length) : memcmp(end, name, length)) != 0)
        return MATCH_NONE;
    if (path == length)
        return MATCH_WHOLE;
    return path > length + 2 && key[path - length - 1] == ':' ? MATCH_END : MATCH_NONE;
}

static enum match match(const struct variables *variables, const struct variable *variable,
                        const struct wanted *wanted) {
    if (wanted->parameters && variable->parameters &&
        strcmp(wanted->parameters, variable->parameters) != 0)
        return MATCH_NONE;
    bool ignores_case = variable->ignores_case;
    const char *brief = variable->brief ? variable->brief : variable->key;
    if (wanted->is_bare)
        return match_key(without_arguments(variables->arena, brief), wanted->key, ignores_case);
    enum match found = match_key(variable->key, wanted->key, ignores_case);
    if (found == MATCH_WHOLE || brief == variable->key)
        return found;
    enum match of_brief = match_key(brief, wanted->key, ignores_case);
    return found > of_brief ? found : of_brief;
}

/* Returns how well VARIABLE matches WANTED; 0: not at all. */
static int rank_of(const struct variables *variables, const struct variable *variable,
                   const struct wanted *wanted) {
    enum match found = match(variables, variable, wanted);
    const char *name = wanted->key;
    if (!found)
        return 0;
    if (variable->cause ||
        ((variable->is_local || variable->is_thread_local) && !variables->takes_locals))
        return 1;
    if (variable->is_local)
        return strstr(name, "::") ? 2 : 1;
    return found == MATCH_END ? 2 : variable->external ? 4 : 3;
}

static bool is_same(const struct variable *a, const struct variable *b) {
    if (a->cause || b->cause)
        return a->cause && b->cause;
    if (a->is_local && b->is_local && a->origin == b->origin)
        return true; /* both are one local, whose function was inlined or copied */
    return a->is_constant == b->is_constant && a->address == b->address && a->value == b->value;
}

/* Returns the name of VARIABLE with its file. WHOLE: also with the parameters of its function. */
static const char *spelling(struct arena *arena, const struct variable *variable, bool whole) {
    size_t own = strlen(variable->name) + 2, length = strlen(variable->path);
    if (!whole || !variable->parameters || length < own)
        return arena_print(arena, "'%s:%s'", last_part(variable->file), variable->path);
    return arena_print(arena, "'%s:%.*s%s::%s'", last_part(variable->file), (int)(length - own),
                       variable->path, variable->parameters, variable->name);
}

static const char *ambiguous(const struct variables *variables, const char *file, const char *name,
                             const struct wanted *wanted, int rank) {
    const struct variable *listed[LISTED_MAX];
    size_t count = 0;
    bool whole = false;
    const char *text = "";
    for (size_t i = 0; i < variables->all.count && count < LISTED_MAX; i++) {
        const struct variable *variable = &variables->all.data[i];
        if ((file && !is_file(variable->file, file, strlen(file))) ||
            rank_of(variables, variable, wanted) != rank)
            continue;
        bool known = false;
        for (size_t k = 0; k < count; k++)
            known |= is_same(listed[k], variable);
        if (!known)
            listed[count++] = variable;
    }
    for (size_t k = 1; k < count; k++)
        whole |= strcmp(listed[0]->path, listed[k]->path) == 0;
    if (count > 1 && listed[0]->is_local &&
        strcmp(spelling(variables->arena, listed[0], whole),
               spelling(variables->arena, listed[1], whole)) == 0)
        return arena_print(variables->arena,
                           "'%s' is there more than once: in blocks of its function, or in copies "
                           "of it; give it a name of its own",
                           name);
    for (size_t k = 0; k < count; k++)
        text = arena_print(variables->arena, "%s%s%s", text, k ? " or " : "",
                           spelling(variables->arena, listed[k], whole));
    return arena_print(variables->arena, "'%s' is there more than once; write %s", name, text);
}

/* Offers "a::b::c" and "b::c". */
static void offer_ends(struct near_names *near_names, const char *path) {
    offer_name(near_names, path);
    for (size_t depth = 0; *path; path++) {
        depth += *path == '<';
        depth -= depth && *path == '>';
        if (!depth && strncmp(path, "::", 2) == 0 && strstr(path + 2, "::"))
            offer_name(near_names, path + 2);
    }
}

/* Offers the variables that are local (LOCAL) or not. A local without an address is offered, too: a
 * message gives the cause if the user names it. */
static void offer_variables(const struct variables *variables, const char *file, bool local,
                            struct near_names *near_names) {
    bool has_scope = strchr(near_names->wanted, ':') != NULL;
    for (size_t i = 0; i < variables->all.count; i++) {
        const struct variable *variable = &variables->all.data[i];
        if (variable->is_local != local || (variable->cause && !local) ||
            (variable->is_thread_local && !variables->takes_locals) ||
            (file && !is_file(variable->file, file, strlen(file))))
            continue;
        if (!local)
            offer_name(near_names, variable->name);
        else if (!has_scope)
            offer_name_as(near_names, variable->name, variable->path);
        if (has_scope)
            offer_ends(near_names, variable->path);
    }
}

static bool is_function(const struct binary *binary, const char *name) {
    size_t count;
    for (size_t i = 0; i < binary->names.count; i++)
        if (strcmp(binary->names.data[i].name, name) == 0 &&
            binary_code(binary, binary->names.data[i].address, &count))
            return true;
    return false;
}

static const char *not_there(const struct variables *variables, const char *file,
                             const char *name) {
    struct near_names near_names = {.wanted = name};
    if (!variables->binary->dwarf)
        return arena_print(variables->arena,
                           "'%s' is not known: there is no debug information; build it with -g, or "
                           "give ADDRESS:LENGTH",
                           name);
    if (is_function(variables->binary, name))
        return arena_print(variables->arena, "'%s' is a function, and no variable", name);
    offer_variables(variables, file, false, &near_names);
    if (variables->takes_locals)
        offer_variables(variables, file, true, &near_names);
    return arena_print(variables->arena, "there is no variable '%s'%s", name,
                       suggest(variables->arena, &near_names));
}

/* Returns the error message for NAME, which means the local FOUND. */
static const char *local_refused(const struct variables *variables, const char *name,
                                 const struct variable *found) {
    if (!variables->takes_locals)
        return arena_print(variables->arena, "'%s' has no %s", name,
                           found->cause ? "address: the optimizer has removed it"
                                        : "fixed address: it is local to a function");
    if (found->cause)
        return arena_print(variables->arena, "'%s' %s", name, found->cause);
    return arena_print(variables->arena, "'%s' is local to a function; write '%s'", name,
                       found->path);
}

/* Sets FOUND to the best match of WANTED, and ONLY to whether it is the only one. Returns its rank
 * as rank_of does. */
static int find_best(const struct variables *variables, const char *file,
                     const struct wanted *wanted, const struct variable **found, bool *only) {
    int best = 0;
    bool unique = true;
    *found = NULL;
    for (size_t i = 0; i < variables->all.count; i++) {
        const struct variable *variable = &variables->all.data[i];
        if (file && !is_file(variable->file, file, strlen(file)))
            continue;
        int rank = rank_of(variables, variable, wanted);
        if (rank > best) {
            best = rank;
            *found = variable;
            unique = true;
        } else if (rank && rank == best) {
            unique = unique && is_same(*found, variable);
            if (best == 1 && (*found)->is_abstract && !variable->is_abstract)
                *found = variable;
        }
    }
    *only = unique;
    return best;
}

const char *find_variable(const struct variables *variables, const char *file, const char *name,
                          const struct variable **found) {
    bool unique;
    struct wanted wanted = {0};
    const char *plain = without_parameters(variables->arena, name, &wanted.parameters);
    wanted.key = one_spelling(variables->arena, plain);
    int best = find_best(variables, file, &wanted, found, &unique);
    if (!best && strstr(name, "::") && !strchr(name, '<')) {
        wanted.is_bare = true;
        best = find_best(variables, file, &wanted, found, &unique);
    }
    if (!best)
        return not_there(variables, file, name);
    if ((*found)->is_local && (best == 1 || (*found)->cause))
        return local_refused(variables, name, *found);
    if ((*found)->cause)
        return arena_print(variables->arena, "'%s' %s", name, (*found)->cause);
    if (best == 1)
        return arena_print(variables->arena, "'%s' has no address of its own: it is thread-local",
                           name);
    return unique ? NULL : ambiguous(variables, file, name, &wanted, best);
}
