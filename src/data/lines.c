/* lines.c: source files and lines of instructions, from DWARF; see lines.h.
 *
 *   1. The line table (line_table.c) has the file and line of each instruction.
 *   2. The tree of entries, read by libdw. A subprogram that starts at a function's entry has the
 *      position of its declaration. Each inlined call in it is one copy, and its instructions get
 * the copy's number.
 *
 * Code that the shim inserted belongs to no instruction, so it is never looked up. The note has
 * the line of padding.
 *
 * Not perfect: with more than 65,535 source files, the others have no lines. */
#include "data/lines.h"

#include "symbols/line_table.h"
#include "util/path.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* The address of an instruction. */
struct place {
    uint64_t address;
    uint32_t index; /* in function.instructions */
};

enum {
    DEPTH_MAX = 200, /* of nested entries; deeper ones are skipped */
};

struct module_lines {
    struct profile *profile;
    const struct line_table *table;
    uint32_t *files; /* numbers in the profile, by number in the table */
};

/* The number of a file that was not used yet. */
static const uint32_t unasked = UINT32_MAX;

struct reader {
    struct profile *profile;
    struct module *module;
    const char *directory; /* for relative names in the unit; NULL: unknown */
    struct arena scratch;
    struct function *function; /* whose entries are read now; NULL: none */
    struct place *places;      /* its instructions, sorted by address */
    size_t place_count;
    uint32_t copy_count; /* inlined calls in it so far */
};

/* Returns the number of the source file that the unit's entries call NAME. */
static uint32_t number_file(struct reader *reader, const char *name) {
    if (!name || !*name)
        return 0;
    return profile_file(reader->profile, path_in(&reader->scratch, reader->directory, name));
}

/* ---- the line table ---- */

struct module_lines *module_lines(struct arena *arena, struct profile *profile,
                                  const struct module *module) {
    struct module_lines *lines = ARENA_NEW(arena, struct module_lines);
    lines->profile = profile;
    lines->table = binary_lines(module->binary);
    lines->files = ARENA_ARRAY(arena, uint32_t, lines->table->files.count);
    for (size_t i = 0; i < lines->table->files.count; i++)
        lines->files[i] = unasked;
    return lines;
}

void lines_find(const struct module_lines *lines, uint64_t address, uint32_t *file,
                uint32_t *line) {
    const struct line_row *row = line_table_find(lines->table, address);
    uint32_t *number = row ? &lines->files[row->file] : NULL;
    if (number && *number == unasked)
        *number = profile_file(lines->profile, *vector_at(&lines->table->files, row->file));
    *file = number ? *number : 0;
    *line = *file ? row->line : 0;
}

/* Returns the instruction that has the file of padding instruction NUMBER, or NULL. */
static const struct instruction *neighbour_of_padding(const struct function *function,
                                                      size_t number) {
    const struct instruction *all = function->instructions;
    if (!function->blocks[all[number].block].line_behind)
        return number ? &all[number - 1] : NULL;
    for (size_t i = number + 1; i < function->instruction_count; i++)
        if (all[i].address)
            return &all[i];
    return NULL;
}

/* The instructions of the binary have their lines already. */
static void set_padding_line(struct function *function, size_t number) {
    struct instruction *padding = &function->instructions[number];
    const struct instruction *neighbour = neighbour_of_padding(function, number);
    uint32_t line = function->blocks[padding->block].line;
    if (!neighbour || neighbour->fragment != padding->fragment)
        return;
    padding->file = neighbour->file;
    padding->line = line ? line : neighbour->line;
}

static void set_instruction_lines(const struct module_lines *lines, struct function *function) {
    for (size_t i = 0; i < function->instruction_count; i++) {
        struct instruction *instruction = &function->instructions[i];
        uint32_t file;
        if (!instruction->address)
            continue;
        lines_find(lines, instruction->address, &file, &instruction->line);
        instruction->file = (uint16_t)file;
    }
    for (size_t i = 0; i < function->instruction_count; i++)
        if (!function->instructions[i].address)
            set_padding_line(function, i);
}

/* ---- the tree of entries ---- */

static int compare_places(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static size_t find_place(const struct reader *reader, uint64_t address) {
    size_t low = 0, high = reader->place_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reader->places[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Marks the instructions of the inlined call DIE, including those of calls in it. The latter are
 * marked again when their own entries are read. */
static void mark_copy(struct reader *reader, Dwarf_Die *die) {
    uint32_t copy = ++reader->copy_count;
    Dwarf_Addr base, start, end;
    for (ptrdiff_t offset = 0; (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0;)
        for (size_t i = find_place(reader, start);
             i < reader->place_count && reader->places[i].address < end; i++)
            reader->function->instructions[reader->places[i].index].copy = copy;
}

static struct function *find_function(const struct module *module, uint64_t address) {
    size_t low = 0, high = module->functions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->functions.data[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < module->functions.count && module->functions.data[low].address == address
               ? &module->functions.data[low]
               : NULL;
}

const char *declaration_file(Dwarf_Die *die, Dwarf_Die *unit) {
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Files *files;
    size_t count;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
        dwarf_formudata(&attribute, &number) != 0 ||
        !dwarf_cu_die(attribute.cu, unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

static void set_declaration(struct reader *reader, struct function *function, Dwarf_Die *die) {
    int line;
    Dwarf_Die unit;
    uint32_t file = number_file(reader, declaration_file(die, &unit));
    if (file && dwarf_decl_line(die, &line) == 0 && line > 0) {
        function->file = file;
        function->line = (uint32_t)line;
    }
}

/* Returns the function of subprogram DIE, one of whose ranges starts at the function's entry; or
 * NULL. */
static struct function *find_subject(const struct reader *reader, Dwarf_Die *die) {
    Dwarf_Addr base, start, end;
    struct function *function = NULL;
    for (ptrdiff_t offset = 0;
         !function && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0;)
        function = start ? find_function(reader->module, start) : NULL;
    return function;
}

/* Begins to mark the inlined calls of the function of subprogram DIE. */
static void enter_function(struct reader *reader, Dwarf_Die *die) {
    struct function *function = find_subject(reader, die);
    reader->function = NULL;
    if (!function)
        return;
    set_declaration(reader, function, die);
    reader->function = function;
    reader->copy_count = 0;
    reader->place_count = 0;
    reader->places = ARENA_ARRAY(&reader->scratch, struct place, function->instruction_count);
    for (size_t i = 0; i < function->instruction_count; i++)
        if (function->instructions[i].address)
            reader->places[reader->place_count++] =
                (struct place){function->instructions[i].address, (uint32_t)i};
    if (reader->place_count)
        qsort(reader->places, reader->place_count, sizeof *reader->places, compare_places);
}

static bool may_hold_code(int tag) {
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_module ||
           tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_entry_point;
}

static void read_entries(struct reader *reader, Dwarf_Die *parent, unsigned depth) {
    Dwarf_Die die;
    if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (!may_hold_code(tag))
            continue;
        if (tag == DW_TAG_inlined_subroutine && reader->function)
            mark_copy(reader, &die);
        if (tag == DW_TAG_subprogram) { /* it may be nested in another one */
            struct reader outer = *reader;
            enter_function(reader, &die);
            read_entries(reader, &die, depth + 1);
            reader->function = outer.function;
            reader->places = outer.places;
            reader->place_count = outer.place_count;
            reader->copy_count = outer.copy_count;
        } else {
            read_entries(reader, &die, depth + 1);
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void read_units(struct reader *reader, Dwarf *dwarf) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, &split) == 0) {
        Dwarf_Attribute attribute;
        arena_release(&reader->scratch);
        /* the skeleton of a split unit has the directory */
        reader->directory = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute));
        read_entries(reader, dwarf_tag(&split) == DW_TAG_compile_unit ? &split : &die, 0);
    }
}

void lines_read(struct profile *profile, struct module *module) {
    Dwarf *dwarf = module->binary->dwarf;
    if (!dwarf)
        return;
    struct reader reader = {.profile = profile, .module = module};
    struct arena scratch = {0};
    struct module_lines *lines = module_lines(&scratch, profile, module);
    for (size_t i = 0; i < module->functions.count; i++) {
        struct function *function = &module->functions.data[i];
        report_progress("lines", i, module->functions.count);
        set_instruction_lines(lines, function);
        if (function->instruction_count) {
            function->file = function->instructions[0].file;
            function->line = function->instructions[0].line;
        }
    }
    report_progress("lines", module->functions.count, module->functions.count);
    arena_release(&scratch);
    read_units(&reader, dwarf);
    arena_release(&reader.scratch);
}
