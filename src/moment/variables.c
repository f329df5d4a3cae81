/* variables.c: variables by name; see variables.h.
 *
 * The whole tree of debug information is walked once, through namespaces, classes, functions and
 * their blocks.  A static of a function that was inlined stands in its abstract tree; the
 * definition of a C++ variable names its declaration, whose surroundings give its path.
 *
 * A local's address has its number in `all`, and above a bias the offset from its function's CFA.
 */
#include "moment/variables.h"

#include "moment/spelling.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 64,
    NAME_MAX_LENGTH = 63, /* of names that others are compared with */
    LISTED_MAX = 3,
    OFFSET_BITS = 36, /* of a local's address */
    ROWS_MOST = 8,    /* of a function's unwinding table, up to its frame pointer */
    RBP = 6,          /* DWARF's numbers */
    RSP = 7,
};

#define LOCAL_ADDRESS ((uint64_t)1 << 62)
#define OFFSET_BIAS   ((uint64_t)1 << (OFFSET_BITS - 1))

struct place {
    const char *file, *path;
    Dwarf_Die *function; /* NULL: outside of all */
    unsigned depth;
};

static void take_children(struct variables *variables, Dwarf_Die *parent, struct place place);

/* ---- one variable ---- */

/* Reads the address that OPERATION alone tells, or that it finds in a table. */
static bool read_address(Dwarf_Attribute *attribute, const Dwarf_Op *operation, uint64_t *address) {
    Dwarf_Attribute entry;
    Dwarf_Addr value = operation->number;
    if (operation->atom == DW_OP_addrx || operation->atom == DW_OP_GNU_addr_index) {
        if (dwarf_getlocation_attr(attribute, operation, &entry) != 0 ||
            dwarf_formaddr(&entry, &value) != 0)
            return false;
    } else if (operation->atom != DW_OP_addr) {
        return false;
    }
    *address = value;
    return true;
}

/* ---- locals ---- */

/* Whether the CFA is counted from REG at ADDRESS; then OFFSET is set, and in any case END, where
 * that ends. */
static bool read_frame_at(Dwarf_CFI *frames, Dwarf_Addr address, unsigned reg, int64_t *offset,
                          Dwarf_Addr *end) {
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *operations;
    Dwarf_Addr begin;
    size_t count = 0;
    bool good = false;
    *end = 0;
    if (!frames || dwarf_cfi_addrframe(frames, address, &frame) != 0)
        return false;
    dwarf_frame_info(frame, &begin, end, NULL);
    if (dwarf_frame_cfa(frame, &operations, &count) == 0 && count == 1) {
        bool named = operations->atom == DW_OP_bregx;
        good = named ? operations->number == reg : operations->atom == DW_OP_breg0 + reg;
        *offset = (int64_t)(named ? operations->number2 : operations->number);
    }
    free(frame);
    return good;
}

/* Whether the line table says that a function's first instructions, if any, end at ADDRESS. */
static bool begins_body(Dwarf_Die *function, Dwarf_Addr address) {
    Dwarf_Die unit;
    Dwarf_Lines *lines;
    size_t count = 0;
    if (!dwarf_diecu(function, &unit, NULL, NULL) || dwarf_getsrclines(&unit, &lines, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr at;
        bool ends = false;
        if (dwarf_lineaddr(line, &at) == 0 && at == address &&
            dwarf_lineprologueend(line, &ends) == 0 && ends)
            return true;
    }
    return false;
}

/* Sets how far the CFA is above REG in FUNCTION, behind its first instructions: where the line
 * table says that these end, or, of the frame pointer, where it has become one. */
static bool read_frame(const struct variables *variables, Dwarf_Die *function, unsigned reg,
                       int64_t *offset) {
    Dwarf_Addr *begins = NULL, entry = 0, end = 0;
    int count = dwarf_entry_breakpoints(function, &begins);
    Dwarf_Addr at = count > 0 ? begins[0] : 0;
    free(begins);
    if (count <= 0 || dwarf_entrypc(function, &entry) != 0 ||
        (reg == RSP && at == entry && !begins_body(function, at)))
        return false;
    for (unsigned row = 0; row < (reg == RSP ? 1 : ROWS_MOST) && at; row++, at = end)
        if (read_frame_at(variables->frames, at, reg, offset, &end))
            return true;
    return false;
}

/* Sets the offset from the CFA of what DW_OP_fbreg counts from in FUNCTION. */
static bool read_frame_base(const struct variables *variables, Dwarf_Die *function,
                            int64_t *offset) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count = 0;
    *offset = 0;
    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1)
        return false;
    if (operations->atom == DW_OP_call_frame_cfa)
        return true;
    if (operations->atom != DW_OP_reg0 + RBP && operations->atom != DW_OP_reg0 + RSP)
        return false;
    bool good = read_frame(variables, function, operations->atom - DW_OP_reg0, offset);
    *offset = -*offset;
    return good;
}

/* The same for a local, or a parameter, of FUNCTION. */
static void locate_local(const struct variables *variables, struct variable *variable,
                         Dwarf_Die *die, Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    Dwarf_Addr entry;
    size_t count = 0;
    int64_t base;
    if (dwarf_entrypc(function, &entry) != 0) {
        variable->is_local = true;
        variable->cause = "is local to a function that is inlined wherever it is called; build it "
                          "with -fno-inline or -O0";
        return;
    }
    if (!dwarf_attr_integrate(die, DW_AT_location, &attribute)) {
        variable->cause = "has no address: the optimizer has removed it; build it with -O0, or "
                          "declare it volatile";
        return;
    }
    variable->is_local = true;
    variable->cause = "is in registers for all of its function, or parts of it; build it with -O0, "
                      "or declare it volatile";
    if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count == 0 ||
        operations->atom < DW_OP_breg0 || operations->atom == DW_OP_regx)
        return;
    variable->cause = "has a place in the frame that its debug information tells in a way that is "
                      "not understood";
    if (count != 1 || operations->atom != DW_OP_fbreg ||
        !read_frame_base(variables, function, &base))
        return;
    variable->cause = NULL;
    variable->entry = entry;
    variable->function = *function;
    variable->address = LOCAL_ADDRESS | (uint64_t)variables->all.count << OFFSET_BITS |
                        ((uint64_t)((int64_t)operations->number + base) + OFFSET_BIAS);
}

const struct variable *find_local(const struct variables *variables, uint64_t address,
                                  int64_t *offset) {
    if (!(address & LOCAL_ADDRESS))
        return NULL;
    uint64_t number = (address & ~LOCAL_ADDRESS) >> OFFSET_BITS;
    *offset = (int64_t)((address & (((uint64_t)1 << OFFSET_BITS) - 1)) - OFFSET_BIAS);
    return number < variables->all.count ? &variables->all.data[number] : NULL;
}

/* Sets the address of VARIABLE, or the cause that it has none. */
static void locate(const struct variables *variables, struct variable *variable, Dwarf_Die *die,
                   Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count = 0;
    variable->cause = "has no address: the optimizer has removed it";
    bool is_static = dwarf_attr_integrate(die, DW_AT_location, &attribute) &&
                     dwarf_getlocation(&attribute, &operations, &count) == 0 && count > 0 &&
                     (operations[0].atom < DW_OP_reg0 || operations[0].atom > DW_OP_bregx);
    if (!is_static && function) {
        locate_local(variables, variable, die, function);
        return;
    }
    if (!is_static)
        return;
    if (count == 1 && read_address(&attribute, operations, &variable->address)) {
        variable->cause = NULL;
    } else if (operations[count - 1].atom == DW_OP_GNU_push_tls_address ||
               operations[count - 1].atom == DW_OP_form_tls_address) {
        variable->cause = "has no address of its own: it is thread-local";
    } else {
        variable->cause = "has no fixed address: it is local to a function, or was optimized";
    }
}

static const char *join(struct arena *arena, const char *path, const char *name) {
    return *path ? arena_print(arena, "%s::%s", path, name) : name;
}

/* The path of a definition that stands elsewhere than its declaration. */
static const char *declared_path(struct arena *arena, Dwarf_Die *declaration) {
    Dwarf_Die *scopes = NULL;
    const char *path = "";
    int count = dwarf_getscopes_die(declaration, &scopes);
    for (int i = count - 1; i > 0; i--) {
        const char *name = dwarf_diename(&scopes[i]);
        if (name && dwarf_tag(&scopes[i]) != DW_TAG_compile_unit)
            path = join(arena, path, name);
    }
    if (count > 0)
        free(scopes);
    return path;
}

/* What stands around DIE, by its declaration where that is elsewhere. */
static const char *path_around(struct arena *arena, Dwarf_Die *die, const struct place *place) {
    Dwarf_Attribute attribute;
    Dwarf_Die declaration;
    return dwarf_attr(die, DW_AT_specification, &attribute) &&
                   dwarf_formref_die(&attribute, &declaration)
               ? declared_path(arena, &declaration)
               : place->path;
}

static void take_variable(struct variables *variables, Dwarf_Die *die, const struct place *place) {
    Dwarf_Attribute attribute;
    const char *name = dwarf_diename(die), *path = path_around(variables->arena, die, place);
    if (!name && dwarf_attr_integrate(die, DW_AT_name, &attribute))
        name = dwarf_formstring(&attribute);
    if (!name || dwarf_hasattr(die, DW_AT_declaration))
        return;
    struct variable variable = {
        .name = name, .path = join(variables->arena, path, name), .file = place->file};
    variable.external = dwarf_hasattr_integrate(die, DW_AT_external);
    locate(variables, &variable, die, place->function);
    if (!variable.cause)
        variable.type = type_of(variables->binary, die);
    variable.key = one_spelling(variables->arena, variable.path);
    vector_push(variables->arena, &variables->all, variable);
}

static void take_constants(struct variables *variables, Dwarf_Die *parent,
                           const struct place *place) {
    Dwarf_Die die;
    if (dwarf_child(parent, &die) != 0)
        return;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Sword value = 0;
        const char *name = dwarf_diename(&die);
        if (!name || !dwarf_attr(&die, DW_AT_const_value, &attribute) ||
            dwarf_formsdata(&attribute, &value) != 0)
            continue;
        struct variable constant = {.name = name,
                                    .path = join(variables->arena, place->path, name),
                                    .file = place->file,
                                    .external = true,
                                    .is_constant = true,
                                    .value = value};
        constant.key = one_spelling(variables->arena, constant.path);
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
        /* fall through */
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        name = dwarf_diename(die);
        if (name)
            inner.path = join(variables->arena, path_around(variables->arena, die, place), name);
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

const char *read_variables(struct arena *arena, const struct binary *binary,
                           struct variables *variables) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;
    *variables = (struct variables){.arena = arena, .binary = binary};
    if (!binary->dwarf)
        return "it has no debug information; build it with -g";
    variables->frames = dwarf_getcfi_elf(binary->elf);
    while (dwarf_get_units(binary->dwarf, unit, &unit, NULL, NULL, &top, NULL) == 0) {
        const char *file = dwarf_diename(&top);
        take_children(variables, &top, (struct place){.file = file ? file : "", .path = ""});
    }
    if (variables->frames)
        dwarf_cfi_end(variables->frames);
    variables->frames = NULL;
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
    while (dwarf_get_units(variables->binary->dwarf, unit, &unit, NULL, NULL, &top, NULL) == 0) {
        const char *own = dwarf_diename(&top);
        if (own && is_file(own, file, length))
            return true;
    }
    return false;
}

/* How well VARIABLE is what NAME, in its one spelling, means: 0 not at all. */
static int rank_of(const struct variables *variables, const struct variable *variable,
                   const char *name) {
    size_t path = strlen(variable->key), length = strlen(name);
    bool whole = strcmp(variable->key, name) == 0;
    bool end = path > length + 2 && strcmp(variable->key + path - length, name) == 0 &&
               variable->key[path - length - 1] == ':';
    if (!whole && !end)
        return 0;
    if (variable->cause || (variable->is_local && !variables->takes_locals))
        return 1;
    if (variable->is_local)
        return strstr(name, "::") ? 2 : 1;
    return end ? 2 : variable->external ? 4 : 3;
}

static bool is_same(const struct variable *a, const struct variable *b) {
    if (a->cause || b->cause)
        return a->cause && b->cause;
    return a->is_constant == b->is_constant && a->address == b->address && a->value == b->value;
}

static const char *spelling(struct arena *arena, const struct variable *variable) {
    const char *slash = strrchr(variable->file, '/');
    return arena_print(arena, "'%s:%s'", slash ? slash + 1 : variable->file, variable->path);
}

static const char *ambiguous(const struct variables *variables, const char *file, const char *name,
                             int rank) {
    const struct variable *listed[LISTED_MAX];
    size_t count = 0;
    const char *text = "";
    for (size_t i = 0; i < variables->all.count && count < LISTED_MAX; i++) {
        const struct variable *variable = &variables->all.data[i];
        if ((file && !is_file(variable->file, file, strlen(file))) ||
            rank_of(variables, variable, one_spelling(variables->arena, name)) != rank)
            continue;
        bool known = false;
        for (size_t k = 0; k < count; k++)
            known |= is_same(listed[k], variable);
        if (!known)
            listed[count++] = variable;
    }
    if (count > 1 && listed[0]->is_local &&
        strcmp(spelling(variables->arena, listed[0]), spelling(variables->arena, listed[1])) == 0)
        return arena_print(variables->arena,
                           "'%s' is there more than once: in blocks of its function, or in copies "
                           "of it; give it a name of its own",
                           name);
    for (size_t k = 0; k < count; k++)
        text = arena_print(variables->arena, "%s%s%s", text, k ? " or " : "",
                           spelling(variables->arena, listed[k]));
    return arena_print(variables->arena, "'%s' is there more than once; write %s", name, text);
}

/* "a::b::c", "b::c" */
static void offer_ends(struct near_names *near_names, const char *path) {
    for (const char *next; (next = strstr(path, "::")); path = next + 2)
        offer_name(near_names, path);
}

static const char *not_there(const struct variables *variables, const char *file,
                             const char *name) {
    struct near_names near_names = {.wanted = name};
    for (size_t i = 0; i < variables->all.count; i++) {
        const struct variable *variable = &variables->all.data[i];
        if (variable->cause || (variable->is_local && !variables->takes_locals) ||
            (file && !is_file(variable->file, file, strlen(file))))
            continue;
        if (!variable->is_local)
            offer_name(&near_names, variable->name);
        if (strchr(name, ':'))
            offer_ends(&near_names, variable->path);
    }
    return arena_print(variables->arena, "there is no variable '%s'%s", name,
                       suggest(variables->arena, &near_names));
}

/* Why the local FOUND is not taken for NAME. */
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

const char *find_variable(const struct variables *variables, const char *file, const char *name,
                          const struct variable **found) {
    const char *key = one_spelling(variables->arena, name);
    int best = 0;
    bool unique = true;
    for (size_t i = 0; i < variables->all.count; i++) {
        const struct variable *variable = &variables->all.data[i];
        if (file && !is_file(variable->file, file, strlen(file)))
            continue;
        int rank = rank_of(variables, variable, key);
        if (rank > best) {
            best = rank;
            *found = variable;
            unique = true;
        } else if (rank && rank == best) {
            unique = unique && is_same(*found, variable);
        }
    }
    if (!best)
        return not_there(variables, file, name);
    if ((*found)->is_local && (best == 1 || (*found)->cause))
        return local_refused(variables, name, *found);
    if ((*found)->cause)
        return arena_print(variables->arena, "'%s' %s", name, (*found)->cause);
    return unique ? NULL : ambiguous(variables, file, name, best);
}

/* ---- near names ---- */

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* Levenshtein's distance. */
static unsigned distance(const char *a, const char *b) {
    unsigned row[NAME_MAX_LENGTH + 1];
    size_t length = strlen(b);
    if (strlen(a) > NAME_MAX_LENGTH || length > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (size_t k = 0; k <= length; k++)
        row[k] = (unsigned)k;
    for (size_t i = 0; a[i]; i++) {
        unsigned corner = row[0]++;
        for (size_t k = 0; k < length; k++) {
            unsigned changed = corner + (a[i] != b[k]);
            corner = row[k + 1];
            row[k + 1] = least(changed, least(row[k], row[k + 1]) + 1);
        }
    }
    return row[length];
}

void offer_name(void *context, const char *name) {
    struct near_names *near_names = context;
    size_t length = strlen(near_names->wanted), own = strlen(name), at;
    size_t longer = own > length ? own - length : length - own;
    unsigned far =
        longer > 2 && longer > length / 3 ? NAME_MAX_LENGTH : distance(near_names->wanted, name);
    if (far > 2 && far > length / 3)
        return;
    if (far >= length)
        return;
    for (size_t i = 0; i < near_names->count; i++)
        if (strcmp(near_names->names[i], name) == 0)
            return;
    at = near_names->count < 3 ? near_names->count++ : 3;
    for (; at > 0 && near_names->distances[at - 1] > far; at--) {
        if (at == 3)
            continue;
        near_names->names[at] = near_names->names[at - 1];
        near_names->distances[at] = near_names->distances[at - 1];
    }
    if (at < 3) {
        near_names->names[at] = name;
        near_names->distances[at] = far;
    }
}

const char *suggest(struct arena *arena, const struct near_names *near_names) {
    const char *text = "";
    for (size_t i = 0; i < near_names->count; i++)
        text = arena_print(arena, "%s%s'%s'", text, i ? " or " : "; did you mean ",
                           near_names->names[i]);
    return near_names->count ? arena_print(arena, "%s?", text) : "";
}
