/* scopes.c: the scopes around an entry of debug information; see scopes.h.
 *
 * DWARF leads from parents to children only. dwarf_getscopes_die searches a whole unit for each
 * entry, and so takes quadratic time for a unit with many declarations. Here a unit is read once.
 *
 * Invariant: the entries of a unit that have children are sorted by their offset. An entry's
 * descendants are between its offset and the end of its last child. */
#include "symbols/scopes.h"

#include "util/map.h"
#include "util/vector.h"

#include <string.h>

/* An entry with children. */
struct parent_entry {
    Dwarf_Die die;
    Dwarf_Off begin, end; /* of its descendants: offsets in [begin, end) */
    uint32_t parent;      /* index; that of the unit is its own */
};

struct unit_scopes {
    VECTOR(struct parent_entry) scopes;
};

struct scope_index {
    struct arena *arena;
    struct map numbers; /* by unit: index in units */
    VECTOR(struct unit_scopes) units;
};

struct scope_index *make_scope_index(struct arena *arena) {
    struct scope_index *index = ARENA_NEW(arena, struct scope_index);
    index->arena = arena;
    return index;
}

/* Adds DIE and all that is inside it. Its last descendant is in front of END. */
static void add_scopes(struct arena *arena, struct unit_scopes *unit, Dwarf_Die *die,
                       uint32_t parent, Dwarf_Off end) {
    Dwarf_Die child, next;
    if (dwarf_child(die, &child) != 0)
        return;
    uint32_t number = (uint32_t)unit->scopes.count;
    vector_push(arena, &unit->scopes,
                ((struct parent_entry){*die, dwarf_dieoffset(&child), end, parent}));
    for (bool more = true; more; child = next) {
        more = dwarf_siblingof(&child, &next) == 0;
        add_scopes(arena, unit, &child, number, more ? dwarf_dieoffset(&next) : end);
    }
}

/* Returns the scopes of DIE's unit. */
static const struct unit_scopes *find_unit(struct scope_index *index, Dwarf_Die *die) {
    const uint32_t *number = map_find(&index->numbers, (const char *)&die->cu, sizeof die->cu);
    if (number)
        return &index->units.data[*number];
    struct unit_scopes unit = {0};
    Dwarf_Die top;
    if (dwarf_diecu(die, &top, NULL, NULL))
        add_scopes(index->arena, &unit, &top, 0, UINT64_MAX);
    map_add_copy(index->arena, &index->numbers, &die->cu, sizeof die->cu,
                 (uint32_t)index->units.count);
    vector_push(index->arena, &index->units, unit);
    return &index->units.data[index->units.count - 1];
}

/* Returns the index of the innermost scope that contains the entry at OFFSET; that of the unit if
 * no other does. */
static uint32_t find_parent(const struct unit_scopes *unit, Dwarf_Off offset) {
    size_t low = 0, high = unit->scopes.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (unit->scopes.data[middle].begin <= offset)
            low = middle;
        else
            high = middle;
    }
    while (low && offset >= unit->scopes.data[low].end)
        low = unit->scopes.data[low].parent;
    return (uint32_t)low;
}

int scopes_around(struct scope_index *index, Dwarf_Die *die, Dwarf_Die scopes[SCOPES_MAX]) {
    const struct unit_scopes *unit = find_unit(index, die);
    int count = 1;
    scopes[0] = *die;
    if (!unit->scopes.count || dwarf_dieoffset(die) < unit->scopes.data[0].begin)
        return 1; /* it is the unit */
    for (uint32_t number = find_parent(unit, dwarf_dieoffset(die));;
         number = unit->scopes.data[number].parent) {
        if (count == SCOPES_MAX)
            return 0;
        scopes[count++] = unit->scopes.data[number].die;
        if (!number)
            return count;
    }
}
