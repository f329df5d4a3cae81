/* procedure.c: Fortran's procedures by the names that the source has; see procedure.h.
 *
 * Each compiler makes other symbols from these names. The debug information contains the names. */
#include "symbols/procedure.h"

#include "symbols/type.h"
#include "symbols/variables.h"

#include <dwarf.h>
#include <string.h>
#include <strings.h>

struct wanted {
    struct arena *arena;
    const struct binary *binary;
    const char *name;
    procedure_list *found;
};

/* Whether PATH is NAME, or ends with "::" and NAME. */
static bool ends_in_name(const char *path, const char *name) {
    size_t own = strlen(path), length = strlen(name);
    return own >= length && strcasecmp(path + own - length, name) == 0 &&
           (own == length || path[own - length - 1] == ':');
}

static void take_procedure(const struct wanted *wanted, Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    Dwarf_Die written = *function;
    Dwarf_Addr address = 0;
    if (dwarf_attr(function, DW_AT_abstract_origin, &attribute) &&
        !dwarf_formref_die(&attribute, &written))
        return;
    const char *name = dwarf_diename(&written);
    if (!name || dwarf_hasattr(function, DW_AT_declaration) ||
        !ends_in_name(
            join_path(wanted->arena, path_above(wanted->arena, wanted->binary, &written), name),
            wanted->name))
        return;
    struct procedure procedure = {.symbol = name};
    if (dwarf_attr(&written, DW_AT_linkage_name, &attribute))
        procedure.symbol = dwarf_formstring(&attribute);
    if (dwarf_entrypc(function, &address) == 0) {
        const char *symbol = binary_symbol(wanted->binary, address);
        procedure.address = address;
        procedure.symbol = symbol ? symbol : procedure.symbol;
    }
    vector_push(wanted->arena, wanted->found, procedure);
}

/* Procedures may be in modules and in other procedures. */
static void look_below(const struct wanted *wanted, Dwarf_Die *parent) {
    Dwarf_Die die;
    if (dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram)
            take_procedure(wanted, &die);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_module)
            look_below(wanted, &die);
    } while (dwarf_siblingof(&die, &die) == 0);
}

void find_procedures(struct arena *arena, const struct binary *binary, const char *name,
                     procedure_list *procedures) {
    struct wanted wanted = {arena, binary, name, procedures};
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;
    while (binary->dwarf && next_unit(binary->dwarf, &unit, &top))
        if (is_fortran(&top))
            look_below(&wanted, &top);
}
