// The scopes around each entry of this program's debug information are those that libdw finds.
// flags: -gdwarf-5
#include "symbols/scopes.h"
#include "symbols/binary.h"
#include "symbols/type.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>

static size_t compared, failed;

static void compare(struct scope_index *index, Dwarf_Die *die) {
    Dwarf_Die own[SCOPES_MAX], *wanted = NULL;
    int count = scopes_around(index, die, own), expected = dwarf_getscopes_die(die, &wanted);
    if (expected <= 0) // it searches no types of functions, and the like
        return;
    bool same = count == expected;
    for (int i = 0; same && i < count; i++)
        same = own[i].addr == wanted[i].addr;
    free(wanted);
    compared++;
    if (same)
        return;
    printf("entry at %#llx: %d scopes, not %d\n", (unsigned long long)dwarf_dieoffset(die), count,
           expected);
    failed++;
}

// Every STEP-th entry, since libdw takes long for each.
static void walk(struct scope_index *index, Dwarf_Die *die, size_t *number) {
    enum {
        STEP = 61
    };
    Dwarf_Die child;
    if ((*number)++ % STEP == 0 && dwarf_tag(die) != DW_TAG_compile_unit)
        compare(index, die);
    if (failed > 10 || dwarf_child(die, &child) != 0)
        return;
    do
        walk(index, &child, number);
    while (dwarf_siblingof(&child, &child) == 0);
}

int main(int count, char **arguments) {
    struct arena arena = {0};
    struct binary *binary;
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;
    size_t number = 0;
    const char *wrong = count ? binary_open(&arena, arguments[0], &binary) : "no name";
    if (wrong) {
        printf("%s\n", wrong);
        return 1;
    }
    while (next_unit(binary->dwarf, &unit, &top))
        walk(binary->scopes, &top, &number);
    binary_close(binary);
    arena_release(&arena);
    if (compared < 1000)
        printf("only %zu entries were compared\n", compared);
    return failed || compared < 1000;
}
