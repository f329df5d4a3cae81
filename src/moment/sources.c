/* sources.c: the functions and source files of the code at an address; see sources.h. */
#include "moment/sources.h"

#include "data/lines.h"
#include "util/path.h"

#include <dwarf.h>
#include <string.h>

/* clang writes no table of the units' addresses, so all units are searched. */
static bool find_unit(const struct binary *binary, uint64_t address, Dwarf_Die *unit) {
    Dwarf_CU *each = NULL;
    if (dwarf_addrdie(binary->dwarf, address, unit))
        return true;
    while (dwarf_get_units(binary->dwarf, each, &each, NULL, NULL, unit, NULL) == 0)
        if (dwarf_haspc(unit, address) > 0)
            return true;
    return false;
}

static const char *symbol_of(Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name ? name : dwarf_diename(function);
}

/* Whether entries below DIE may describe the code at ADDRESS. Functions may be nested in others. */
static bool may_hold(Dwarf_Die *die, uint64_t address) {
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_subprogram:
        return true;
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
        return dwarf_haspc(die, address) > 0;
    default:
        return false;
    }
}

/* Adds the functions that contain ADDRESS, the outermost first. dwarf_getscopes does not find
 * functions of another unit, which link-time optimization produces. */
typedef VECTOR(Dwarf_Die) die_list;
static void find_below(struct arena *arena, Dwarf_Die *die, uint64_t address, die_list *functions) {
    Dwarf_Die child;
    if (dwarf_child(die, &child) != 0)
        return;
    do {
        if (!may_hold(&child, address))
            continue;
        bool is_inlined = dwarf_tag(&child) == DW_TAG_inlined_subroutine;
        bool is_outer = dwarf_tag(&child) == DW_TAG_subprogram && dwarf_haspc(&child, address) > 0;
        if (is_inlined || is_outer)
            vector_push(arena, functions, child);
        find_below(arena, &child, address, functions);
    } while (dwarf_siblingof(&child, &child) == 0);
}

/* For a split unit the skeleton describes no functions, so the split unit is read. */
static void find_functions_at(struct arena *arena, const struct binary *binary, uint64_t address,
                              die_list *functions) {
    Dwarf_Die unit, split = {0};
    uint8_t kind;
    if (!binary->dwarf || !find_unit(binary, address, &unit))
        return;
    bool is_split = dwarf_cu_info(unit.cu, NULL, &kind, NULL, &split, NULL, NULL, NULL) == 0 &&
                    kind == DW_UT_skeleton && split.addr;
    find_below(arena, is_split ? &split : &unit, address, functions);
}

void find_inlined(struct arena *arena, const struct binary *binary, uint64_t address,
                  text_vector *names) {
    die_list functions = {0};
    find_functions_at(arena, binary, address, &functions);
    for (size_t i = 0; i < functions.count; i++) {
        Dwarf_Die *function = &functions.data[i];
        const char *name =
            dwarf_tag(function) == DW_TAG_inlined_subroutine ? symbol_of(function) : NULL;
        if (name)
            vector_push(arena, names, arena_copy(arena, name, strlen(name)));
    }
}

/* Returns FILE, as named in UNIT, as a full path; NULL: not known. */
static const char *whole_path(struct arena *arena, Dwarf_Die *unit, const char *file) {
    Dwarf_Attribute attribute;
    const char *directory =
        dwarf_attr(unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute) : NULL;
    return file ? path_in(arena, directory, file) : NULL;
}

static bool is_external(Dwarf_Die *function) {
    Dwarf_Attribute attribute;
    bool is_so = false;
    return dwarf_attr_integrate(function, DW_AT_external, &attribute) &&
           dwarf_formflag(&attribute, &is_so) == 0 && is_so;
}

void find_sources(struct arena *arena, const struct binary *binary, uint64_t address,
                  text_vector *files) {
    die_list functions = {0};
    find_functions_at(arena, binary, address, &functions);
    for (size_t i = functions.count; i-- > 0;) {
        Dwarf_Die unit;
        const char *file = declaration_file(&functions.data[i], &unit);
        const char *own = file ? whole_path(arena, &unit, dwarf_diename(&unit)) : NULL;
        if (!own)
            return;
        file = whole_path(arena, &unit, file);
        vector_push(arena, files, file);
        if (ends_in(file, own)) /* a split unit does not contain its directory */
            return;
        if (i == 0 && !is_external(&functions.data[i]))
            vector_push(arena, files, own);
    }
}
