/* lines.c: source files and lines of instructions, out of DWARF; see lines.h.
 *
 * Two passes over the compilation units, both through libdw (which knows compressed sections, split
 * units and every DWARF version):
 *   1. the line table: all rows of all units, by address; an instruction has the file and line of
 *      the last row at or below it;
 *   2. the tree of entries: a subprogram that starts at a function's entry tells where it was
 *      declared; each inlined call within it is one copy, its instructions bear its number.
 *
 * Code that the shim inserted is nobody's: it stands between the instructions and is not looked up.
 * Padding has the line of the instruction before it.
 *
 * Where it is not perfect: the rows of a function that the linker dropped start at address 0.  If
 * they reach up to code that is there, and of the same unit, that code may be told the wrong line.
 * More than 65,535 source files: those beyond have no lines. */
#include "data/lines.h"

#include "data/binary.h"
#include "util/path.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint64_t address;
    uint32_t order; /* of reading: rows of one address keep it */
    uint32_t line;  /* 0: no code follows, or code of no line */
    uint16_t file;
};

/* An instruction by its address. */
struct place {
    uint64_t address;
    uint32_t index; /* into function.instructions */
};

enum {
    FILES_MAX = UINT16_MAX,
    DEPTH_MAX = 200, /* of entries within entries; deeper ones are passed over */
};

struct reader {
    struct profile *profile;
    struct module *module;
    const char *directory; /* that relative names of the unit are relative to; NULL: not known */
    const char *last_name; /* as libdw gave it, to save a look-up */
    uint16_t last_file;
    struct arena scratch;
    VECTOR(struct row) rows;
    struct function *function; /* whose entries are read; NULL: none */
    struct place *places;      /* its instructions, by address */
    size_t place_count;
    uint32_t copy_count; /* inlined calls in it so far */
};

/* The index of the source file NAME in profile.files, made where it is new. */
static uint16_t number_file(struct reader *reader, const char *name) {
    if (!name || !*name)
        return 0;
    if (name == reader->last_name)
        return reader->last_file;
    struct profile *profile = reader->profile;
    bool relative = *name != '/' && reader->directory;
    const char *joined =
        relative ? arena_print(&reader->scratch, "%s/%s", reader->directory, name) : name;
    char *path = normalize_path(&profile->arena, joined);
    const uint32_t *known = map_find(&profile->file_numbers, path, strlen(path));
    uint32_t number = known ? *known : (uint32_t)profile->files.count;
    if (!known && number > FILES_MAX)
        return 0;
    if (!known) {
        map_add(&profile->arena, &profile->file_numbers, path, strlen(path), number);
        vector_push(&profile->arena, &profile->files, path);
    }
    reader->last_name = name;
    reader->last_file = (uint16_t)number;
    return reader->last_file;
}

/* Makes UNIT the one whose names are read. */
static void enter_unit(struct reader *reader, Dwarf_Die *unit) {
    Dwarf_Attribute attribute;
    reader->last_name = NULL;
    reader->directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

/* ---- the line table ---- */

static void add_row(struct reader *reader, Dwarf_Line *line) {
    Dwarf_Addr address;
    bool ends = false;
    int number = 0;
    if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &ends) != 0)
        return;
    struct row row = {.address = address, .order = (uint32_t)reader->rows.count};
    if (!ends && dwarf_lineno(line, &number) == 0 && number > 0) {
        row.file = number_file(reader, dwarf_linesrc(line, NULL, NULL));
        row.line = row.file ? (uint32_t)number : 0;
    }
    vector_push(&reader->scratch, &reader->rows, row);
}

/* By address; a row that ends a sequence comes before one that starts another there. */
static int compare_rows(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (!a->line != !b->line)
        return a->line ? 1 : -1;
    return a->order < b->order ? -1 : 1;
}

static void read_rows(struct reader *reader, Dwarf *dwarf) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
        Dwarf_Lines *lines;
        size_t count;
        enter_unit(reader, &die);
        if (dwarf_getsrclines(&die, &lines, &count) != 0)
            continue;
        for (size_t i = 0; i < count; i++)
            add_row(reader, dwarf_onesrcline(lines, i));
    }
    if (reader->rows.count)
        qsort(reader->rows.data, reader->rows.count, sizeof *reader->rows.data, compare_rows);
}

/* The number of ROWS, COUNT of them, at or below ADDRESS. */
static size_t count_rows_to(const struct row *rows, size_t count, uint64_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void set_instruction_lines(const struct reader *reader, struct function *function) {
    const struct instruction *before = NULL;
    for (size_t i = 0; i < function->instruction_count; i++) {
        struct instruction *instruction = &function->instructions[i];
        if (instruction->address) {
            size_t rows =
                count_rows_to(reader->rows.data, reader->rows.count, instruction->address);
            if (rows) {
                instruction->file = vector_at(&reader->rows, rows - 1)->file;
                instruction->line = vector_at(&reader->rows, rows - 1)->line;
            }
        } else if (before && before->fragment == instruction->fragment) {
            instruction->file = before->file;
            instruction->line = before->line;
        }
        before = instruction;
    }
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

/* Marks the instructions of the inlined call DIE, those of calls within it too: they are marked
 * anew when their own entries are read. */
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

/* The file that DIE, or what it is an instance of, was declared in.  Not dwarf_decl_file: that ends
 * the program by an assertion where a split unit has no table of files (elfutils 0.188). */
static const char *declaration_file(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t count;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) ||
        dwarf_formudata(&attribute, &number) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

static void set_declaration(struct reader *reader, struct function *function, Dwarf_Die *die) {
    int line;
    reader->last_name = NULL;
    uint16_t file = number_file(reader, declaration_file(die));
    if (file && dwarf_decl_line(die, &line) == 0 && line > 0) {
        function->file = file;
        function->line = (uint32_t)line;
    }
}

/* The function that subprogram DIE tells of: one of its ranges starts at the entry.  NULL: none. */
static struct function *find_subject(const struct reader *reader, Dwarf_Die *die) {
    Dwarf_Addr base, start, end;
    struct function *function = NULL;
    for (ptrdiff_t offset = 0;
         !function && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0;)
        function = start ? find_function(reader->module, start) : NULL;
    return function;
}

/* Makes the function that subprogram DIE tells of the one whose inlined calls are marked. */
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
        if (tag == DW_TAG_subprogram) { /* perhaps nested in another one */
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
        arena_release(&reader->scratch);
        enter_unit(reader, &die); /* the skeleton of a split unit bears the directory */
        read_entries(reader, dwarf_tag(&split) == DW_TAG_compile_unit ? &split : &die, 0);
    }
}

void lines_read(struct profile *profile, struct module *module) {
    Dwarf *dwarf = module->binary->dwarf;
    if (!dwarf)
        return;
    struct reader reader = {.profile = profile, .module = module};
    read_rows(&reader, dwarf);
    for (size_t i = 0; i < module->functions.count; i++) {
        struct function *function = &module->functions.data[i];
        report_progress("lines", i, module->functions.count);
        set_instruction_lines(&reader, function);
        if (function->instruction_count) {
            function->file = function->instructions[0].file;
            function->line = function->instructions[0].line;
        }
    }
    report_progress("lines", module->functions.count, module->functions.count);
    read_units(&reader, dwarf);
    arena_release(&reader.scratch);
}

/* ---- any code ---- */

struct line_table {
    struct row *rows; /* by address */
    size_t count;
};

struct line_table *lines_table(struct arena *arena, struct profile *profile,
                               struct module *module) {
    struct line_table *table = ARENA_NEW(arena, struct line_table);
    struct reader reader = {.profile = profile, .module = module};
    if (module->binary->dwarf)
        read_rows(&reader, module->binary->dwarf);
    table->count = reader.rows.count;
    if (table->count)
        table->rows =
            arena_grow(arena, reader.rows.data, table->count, table->count, sizeof *table->rows);
    arena_release(&reader.scratch);
    return table;
}

void lines_find(const struct line_table *table, uint64_t address, uint32_t *file, uint32_t *line) {
    size_t count = count_rows_to(table->rows, table->count, address);
    *file = count ? table->rows[count - 1].file : 0;
    *line = count ? table->rows[count - 1].line : 0;
}
