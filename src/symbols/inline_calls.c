/* inline_calls.c: lines of inlined calls, from DWARF; see inline_calls.h. The entry of an inlined
 * instance has the line of its call (DWARF 5, section 3.3.8.2). */
#include "symbols/inline_calls.h"

#include "symbols/line_table.h"
#include "symbols/scopes.h"
#include "symbols/type.h"
#include "util/path.h"

#include <dwarf.h>
#include <stdlib.h>

/* Finds the unit with the code at ADDRESS. */
static bool find_unit_of(const struct binary *binary, uint64_t address, Dwarf_Die *top) {
    Dwarf_CU *unit = NULL;
    while (next_unit(binary->dwarf, &unit, top))
        if (dwarf_haspc(top, address) == 1)
            return true;
    return false;
}

/* Sets the place of the call of the inlined INSTANCE. Returns false if it is not known. */
static bool find_call_place(struct arena *arena, Dwarf_Die *top, Dwarf_Die *instance,
                            struct code_place *place) {
    uint64_t file, line;
    Dwarf_Files *files;
    size_t count;
    if (!attribute_word(instance, DW_AT_call_file, &file) ||
        !attribute_word(instance, DW_AT_call_line, &line) || line > UINT32_MAX ||
        dwarf_getsrcfiles(top, &files, &count) != 0 || file >= count)
        return false;
    const char *path = dwarf_filesrc(files, file, NULL, NULL);
    if (!path)
        return false;
    place->file = normalize_path(arena, path);
    place->line = (uint32_t)line;
    return true;
}

size_t find_code_places(struct arena *arena, const struct binary *binary, uint64_t address,
                        struct code_place places[CODE_PLACES_MAX]) {
    const struct line_table *table = binary_lines(binary);
    const struct line_row *row = line_table_find(table, address);
    Dwarf_Die top, *inner, around[SCOPES_MAX];
    size_t found = 1;
    if (!row || !row->line)
        return 0;
    places[0] = (struct code_place){NULL, table->files.data[row->file], row->line};
    if (!binary->dwarf || !find_unit_of(binary, address, &top))
        return found;
    if (dwarf_getscopes(&top, address, &inner) <= 0)
        return found;
    int count = scopes_around(binary->scopes, &inner[0], around);
    free(inner);
    for (int i = 0; i < count && found < CODE_PLACES_MAX; i++) {
        struct code_place call = {0};
        if (dwarf_tag(&around[i]) != DW_TAG_inlined_subroutine)
            continue;
        if (!find_call_place(arena, &top, &around[i], &call))
            break;
        places[found - 1].function = dwarf_diename(&around[i]);
        places[found++] = call;
    }
    return found;
}
