/* find_variable.c: finds a variable by a name that the user wrote; see variables.h.
 *
 * The name is the end of the variable's path, from the begin of some part on. */
#include "symbols/spelling.h"
#include "symbols/variable_path.h"
#include "util/near.h"
#include "util/path.h"

#include <dwarf.h>
#include <string.h>
#include <strings.h>

enum {
    LISTED_MAX = 3
};

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
    const char *last;       /* the last part of the path in `key`, of LAST_LENGTH bytes, without the
                               arguments of a template */
    size_t last_length;
    bool is_bare; /* compare without the arguments of any template */
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

/* Sets the key, and the last part of its path. */
static void set_key(struct wanted *wanted, const char *key) {
    size_t depth = 0;
    wanted->key = wanted->last = key;
    for (const char *at = key; *at; at++) {
        depth += *at == '<';
        depth -= depth && *at == '>';
        if (!depth && at > key && at[-1] == ':')
            wanted->last = at;
    }
    wanted->last_length = strcspn(wanted->last, "<");
}

/* Whether the last part of the variable's path may be that of WANTED. */
static bool may_match(const struct variable *variable, const struct wanted *wanted) {
    size_t length = strcspn(variable->name, "<");
    if (wanted->last_length != length)
        return false;
    return (variable->ignores_case ? strncasecmp(variable->name, wanted->last, length)
                                   : memcmp(variable->name, wanted->last, length)) == 0;
}

static enum match match(const struct variables *variables, const struct variable *variable,
                        const struct wanted *wanted) {
    struct arena *arena = variables->arena;
    bool ignores_case = variable->ignores_case;
    if (!may_match(variable, wanted))
        return MATCH_NONE;
    const char *parameters = wanted->parameters ? variable_parameters(arena, variable) : NULL;
    if (parameters && strcmp(wanted->parameters, parameters) != 0)
        return MATCH_NONE;
    const char *brief = one_spelling(arena, variable_path(arena, variable, true));
    if (wanted->is_bare)
        return match_key(without_arguments(arena, brief), wanted->key, ignores_case);
    const char *whole = one_spelling(arena, variable_path(arena, variable, false));
    enum match found = match_key(whole, wanted->key, ignores_case);
    if (found == MATCH_WHOLE)
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
    const char *path = variable_path(arena, variable, false);
    const char *parameters = whole ? variable_parameters(arena, variable) : NULL;
    size_t own = strlen(variable->name) + 2, length = strlen(path);
    if (!parameters || length < own)
        return arena_print(arena, "'%s:%s'", last_part(variable->file), path);
    return arena_print(arena, "'%s:%.*s%s::%s'", last_part(variable->file), (int)(length - own),
                       path, parameters, variable->name);
}

/* Sets LISTED to the first different variables that match WANTED with RANK and have an address.
 * Returns their number. */
static size_t list_matches(const struct variables *variables, const char *file,
                           const struct wanted *wanted, int rank,
                           const struct variable *listed[LISTED_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < variables->all.count && count < LISTED_MAX; i++) {
        const struct variable *variable = &variables->all.data[i];
        if (variable->cause || (file && !is_file(variable->file, file, strlen(file))) ||
            rank_of(variables, variable, wanted) != rank)
            continue;
        bool known = false;
        for (size_t k = 0; k < count; k++)
            known |= is_same(listed[k], variable);
        if (!known)
            listed[count++] = variable;
    }
    return count;
}

static const char *ambiguous(const struct variables *variables, const char *file, const char *name,
                             const struct wanted *wanted, int rank) {
    const struct variable *listed[LISTED_MAX];
    size_t count = list_matches(variables, file, wanted, rank, listed);
    bool whole = false;
    const char *text = "";
    for (size_t k = 1; k < count; k++)
        whole |= strcmp(variable_path(variables->arena, listed[0], false),
                        variable_path(variables->arena, listed[k], false)) == 0;
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
        else if (!has_scope && is_near(near_names, variable->name))
            offer_name_as(near_names, variable->name,
                          variable_path(variables->arena, variable, false));
        if (has_scope)
            offer_ends(near_names, variable_path(variables->arena, variable, false));
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

/* Returns a file that has the variable NAME outside of functions, or NULL. */
static const char *file_with(const struct variables *variables, const char *name) {
    for (size_t i = 0; i < variables->all.count; i++) {
        const struct variable *variable = &variables->all.data[i];
        if (!variable->is_local && variable->file && strcmp(variable->name, name) == 0)
            return variable->file;
    }
    return NULL;
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
    const char *elsewhere = file ? file_with(variables, name) : NULL;
    if (elsewhere)
        return arena_print(variables->arena, "there is no variable '%s' in '%s'; it is in '%s'",
                           name, file, elsewhere);
    offer_variables(variables, file, false, &near_names);
    if (variables->takes_locals)
        offer_variables(variables, file, true, &near_names);
    return arena_print(variables->arena, "there is no variable '%s'%s", name,
                       suggest(variables->arena, &near_names));
}

/* Returns the error message for NAME, which means the local FOUND. Others may match WANTED, too. */
static const char *local_refused(const struct variables *variables, const char *file,
                                 const char *name, const struct wanted *wanted,
                                 const struct variable *found) {
    const struct variable *listed[LISTED_MAX];
    const char *text = NULL;
    if (!variables->takes_locals)
        return arena_print(variables->arena, "'%s' has no %s", name,
                           found->cause ? "address: the optimizer has removed it"
                                        : "fixed address: it is local to a function");
    if (found->cause)
        return arena_print(variables->arena, "'%s' %s", name, found->cause);
    size_t count = list_matches(variables, file, wanted, 1, listed);
    for (size_t i = 0; i < count; i++) { /* a function may have it in several blocks */
        const char *path = arena_print(variables->arena, "'%s'",
                                       variable_path(variables->arena, listed[i], false));
        if (!text)
            text = path;
        else if (!strstr(text, path))
            text = arena_print(variables->arena, "%s or %s", text, path);
    }
    return arena_print(variables->arena, "'%s' is local to a function; write %s", name, text);
}

/* Of two variables that are not found by this name, returns whether A is the better one to name in
 * the message: one that can be watched, or one of a function that has code. */
static bool is_better_named(const struct variable *a, const struct variable *b) {
    if (!a->cause != !b->cause)
        return !a->cause;
    return !a->is_abstract && b->is_abstract;
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
            if (best == 1 && is_better_named(variable, *found))
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
    set_key(&wanted, one_spelling(variables->arena, plain));
    int best = find_best(variables, file, &wanted, found, &unique);
    if (!best && strstr(name, "::") && !strchr(name, '<')) {
        wanted.is_bare = true;
        best = find_best(variables, file, &wanted, found, &unique);
    }
    if (!best)
        return not_there(variables, file, name);
    if ((*found)->is_local && (best == 1 || (*found)->cause))
        return local_refused(variables, file, name, &wanted, *found);
    if ((*found)->cause)
        return arena_print(variables->arena, "'%s' %s", name, (*found)->cause);
    if (best == 1)
        return arena_print(variables->arena, "'%s' has no address of its own: it is thread-local",
                           name);
    return unique ? NULL : ambiguous(variables, file, name, &wanted, best);
}
