/* line_table.c: the source line of each address of a binary's code; see line_table.h.
 *
 * A line table is a program that makes sequences (DWARF 5, section 6.2). A sequence has rows,
 * sorted by address, and the address where it ends. It describes the code of one section of one
 * unit, and no code before or behind that.
 *
 * quipu runs the programs itself, because libdw keeps no sequences: it sorts all rows of a unit.
 * Compilers make rows exactly at the end of a sequence if no instruction follows. libdw puts these
 * behind the sequence's end. So they would give their line to all code behind it, also to that of
 * other units. libdw reads the files' names.
 *
 * If the linker drops code, its sequence begins at an address without code: at 0, or at an address
 * that means the same (1, or the highest ones). Such sequences are left out. Two sequences describe
 * the same code if the linker has kept it once for several units. Then the sequence that is read
 * first is used, because linkers keep the first code, too.
 *
 * Not perfect: in a binary with code at address 0 (-Ttext=0) the sequences of dropped code look
 * like others. */
#include "symbols/line_table.h"

#include "util/cursor.h"
#include "util/near.h"
#include "util/path.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILES_MAX = INT32_MAX,
    LINE_MAX_KNOWN = INT32_MAX,
};

struct range {
    uint64_t begin, end;
};

/* The code from BEGIN to END. It has COUNT of the rows that were read, from row FIRST on. */
struct sequence {
    uint64_t begin, end;
    size_t first, count;
    uint32_t order; /* order of reading */
};

struct reader {
    struct line_table *table;
    struct arena scratch;
    VECTOR(struct range) code; /* of the binary's sections, sorted by address */
    const uint8_t *bytes;      /* .debug_line */
    size_t size;
    struct map units; /* by the offset of their programs, which several units may share */
    VECTOR(struct line_row) rows;
    VECTOR(struct sequence) sequences;
    const char *directory; /* to which the unit's names are relative; NULL: unknown */
    Dwarf_Files *files;    /* of the unit */
    size_t file_count;
    size_t last_file; /* the last file: its number in the unit, and in the table */
    uint32_t last_number;
};

/* ---- addresses of code ---- */

static int compare_ranges(const void *left, const void *right) {
    const struct range *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void find_code(struct reader *reader, Elf *code) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(code, section));) {
        GElf_Shdr header;
        uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;
        if (gelf_getshdr(section, &header) && (header.sh_flags & wanted) == wanted)
            vector_push(&reader->scratch, &reader->code,
                        ((struct range){header.sh_addr, header.sh_addr + header.sh_size}));
    }
    if (reader->code.count)
        qsort(reader->code.data, reader->code.count, sizeof *reader->code.data, compare_ranges);
}

static bool is_code(const struct reader *reader, uint64_t address) {
    for (size_t i = 0; i < reader->code.count; i++)
        if (address >= reader->code.data[i].begin && address < reader->code.data[i].end)
            return true;
    return false;
}

/* ---- files ---- */

/* Returns the number in the table of file NUMBER of the unit. */
static uint32_t number_file(struct reader *reader, size_t number) {
    struct line_table *table = reader->table;
    if (number == reader->last_file)
        return reader->last_number;
    reader->last_file = number;
    reader->last_number = 0;
    const char *name =
        number < reader->file_count ? dwarf_filesrc(reader->files, number, NULL, NULL) : NULL;
    if (!name || !*name || table->files.count >= FILES_MAX)
        return 0;
    const char *found = path_in(&reader->scratch, reader->directory, name);
    char *path = arena_copy(&table->arena, found, strlen(found));
    uint32_t fresh = (uint32_t)table->files.count;
    reader->last_number = *map_add(&table->arena, &table->file_numbers, path, strlen(path), fresh);
    if (reader->last_number == fresh)
        vector_push(&table->arena, &table->files, path);
    return reader->last_number;
}

/* ---- programs ---- */

struct header {
    uint64_t version;
    uint64_t shortest; /* instruction: addresses advance by multiples of it */
    int64_t line_base; /* of special opcodes */
    uint64_t line_range;
    uint64_t opcode_base;   /* the first special one */
    const uint8_t *lengths; /* of standard opcodes, from opcode 1 on: numbers of operands */
    struct cursor program;
};

struct state {
    uint64_t address;
    uint64_t file;
    uint64_t line;
    bool ends_prologue;
    size_t first; /* first row of the sequence */
};

static bool read_header(const struct reader *reader, uint64_t offset, struct header *header) {
    if (offset > reader->size)
        return false;
    struct cursor cursor = {reader->bytes + offset, reader->bytes + reader->size, false};
    size_t width = 4;
    uint64_t length = cursor_number(&cursor, 4);
    if (length == 0xffffffff) {
        width = 8;
        length = cursor_number(&cursor, 8);
    }
    if (cursor.failed || length > cursor_left(&cursor))
        return false;
    cursor.end = cursor.next + length;
    header->version = cursor_number(&cursor, 2);
    if (header->version < 2 || header->version > 5)
        return false;
    if (header->version == 5)
        (void)cursor_bytes(&cursor, 2); /* sizes of addresses and of segments' selectors */
    length = cursor_number(&cursor, width);
    if (cursor.failed || length > cursor_left(&cursor))
        return false;
    header->program = (struct cursor){cursor.next + length, cursor.end, false};
    header->shortest = cursor_number(&cursor, 1);
    if (header->version >= 4)
        (void)cursor_number(&cursor, 1); /* operations in an instruction: 1 on x86-64 */
    (void)cursor_number(&cursor, 1);     /* whether rows begin statements */
    int64_t base = (int64_t)cursor_number(&cursor, 1);
    header->line_base = base <= INT8_MAX ? base : base - (UINT8_MAX + 1); /* it is signed */
    header->line_range = cursor_number(&cursor, 1);
    header->opcode_base = cursor_number(&cursor, 1);
    header->lengths = cursor_bytes(&cursor, header->opcode_base ? header->opcode_base - 1 : 0);
    return !cursor.failed && header->line_range && header->opcode_base;
}

static void begin_sequence(const struct reader *reader, struct state *state) {
    *state = (struct state){.file = 1, .line = 1, .first = reader->rows.count};
}

static void add_row(struct reader *reader, struct state *state) {
    struct line_row row = {.address = state->address, .ends_prologue = state->ends_prologue};
    if (state->line && state->line <= LINE_MAX_KNOWN) {
        row.file = number_file(reader, state->file) & INT32_MAX;
        row.line = row.file ? (uint32_t)state->line : 0;
    }
    vector_push(&reader->scratch, &reader->rows, row);
    state->ends_prologue = false;
}

static void end_sequence(struct reader *reader, struct state *state) {
    size_t count = reader->rows.count - state->first;
    uint64_t begin = count ? vector_at(&reader->rows, state->first)->address : 0;
    if (count && begin < state->address && is_code(reader, begin))
        vector_push(&reader->scratch, &reader->sequences,
                    ((struct sequence){begin, state->address, state->first, count,
                                       (uint32_t)reader->sequences.count}));
    else
        reader->rows.count = state->first;
    begin_sequence(reader, state);
}

static void run_extended(struct reader *reader, struct cursor *program, struct state *state) {
    uint64_t length = cursor_uleb128(program);
    const uint8_t *bytes = cursor_bytes(program, length);
    if (!bytes || !length)
        return;
    struct cursor operands = {bytes + 1, bytes + length, false};
    if (*bytes == DW_LNE_end_sequence)
        end_sequence(reader, state);
    else if (*bytes == DW_LNE_set_address && length - 1 <= sizeof state->address)
        state->address = cursor_number(&operands, length - 1);
}

static void run_standard(struct reader *reader, const struct header *header, unsigned opcode,
                         struct cursor *program, struct state *state) {
    switch (opcode) {
    case DW_LNS_copy:
        add_row(reader, state);
        break;
    case DW_LNS_advance_pc:
        state->address += cursor_uleb128(program) * header->shortest;
        break;
    case DW_LNS_advance_line:
        state->line += (uint64_t)cursor_sleb128(program);
        break;
    case DW_LNS_set_file:
        state->file = cursor_uleb128(program);
        break;
    case DW_LNS_const_add_pc:
        state->address += (255 - header->opcode_base) / header->line_range * header->shortest;
        break;
    case DW_LNS_fixed_advance_pc:
        state->address += cursor_number(program, 2);
        break;
    case DW_LNS_set_prologue_end:
        state->ends_prologue = true;
        break;
    default: /* not about lines, or unknown */
        for (unsigned i = 0; i < header->lengths[opcode - 1]; i++)
            (void)cursor_uleb128(program);
    }
}

static void run_program(struct reader *reader, const struct header *header) {
    struct cursor program = header->program;
    struct state state;
    begin_sequence(reader, &state);
    while (!program.failed && cursor_left(&program)) {
        unsigned opcode = (unsigned)cursor_number(&program, 1);
        if (opcode >= header->opcode_base) {
            uint64_t steps = opcode - header->opcode_base;
            state.address += steps / header->line_range * header->shortest;
            state.line += (uint64_t)(header->line_base + (int64_t)(steps % header->line_range));
            add_row(reader, &state);
        } else if (opcode) {
            run_standard(reader, header, opcode, &program, &state);
        } else {
            run_extended(reader, &program, &state);
        }
    }
    reader->rows.count = state.first; /* rows of a sequence without end */
}

/* ---- units ---- */

/* Whether the program at OFFSET has not been read yet. */
static bool is_new(struct reader *reader, uint64_t offset) {
    size_t known = reader->units.count;
    map_add_copy(&reader->scratch, &reader->units, &offset, sizeof offset, 1);
    return reader->units.count != known;
}

static void read_unit(struct reader *reader, Dwarf_Die *unit) {
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    struct header header;
    if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute) ||
        dwarf_formudata(&attribute, &offset) != 0 || !is_new(reader, offset) ||
        !read_header(reader, offset, &header) ||
        dwarf_getsrcfiles(unit, &reader->files, &reader->file_count) != 0)
        return;
    reader->directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    reader->last_file = SIZE_MAX;
    run_program(reader, &header);
}

/* Finds .debug_line. Decompresses it, as libdw does when it opens the file. */
static void find_section(struct reader *reader, Elf *elf) {
    size_t names;
    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || header.sh_type == SHT_NOBITS ||
            (strcmp(name, ".debug_line") != 0 && strcmp(name, ".zdebug_line") != 0))
            continue;
        if (header.sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
            return;
        Elf_Data *data = elf_getdata(section, NULL);
        reader->bytes = data ? data->d_buf : NULL;
        reader->size = reader->bytes ? data->d_size : 0;
        return;
    }
}

/* ---- the table ---- */

struct ordered_row {
    struct line_row row;
    size_t order;
};

static int compare_rows(const void *left, const void *right) {
    const struct ordered_row *a = left, *b = right;
    if (a->row.address != b->row.address)
        return a->row.address < b->row.address ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The rows of a sequence must be sorted by address, but some assemblers do not sort them. */
static void sort_rows(struct line_row *rows, size_t count) {
    size_t sorted = 1;
    while (sorted < count && rows[sorted - 1].address <= rows[sorted].address)
        sorted++;
    if (sorted >= count)
        return;
    struct arena scratch = {0};
    struct ordered_row *ordered = ARENA_ARRAY(&scratch, struct ordered_row, count);
    for (size_t i = 0; i < count; i++)
        ordered[i] = (struct ordered_row){rows[i], i};
    qsort(ordered, count, sizeof *ordered, compare_rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = ordered[i].row;
    arena_release(&scratch);
}

static int compare_sequences(const void *left, const void *right) {
    const struct sequence *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Appends the rows of SEQUENCE for the code from BEGIN on. */
static void take_sequence(struct reader *reader, const struct sequence *sequence, uint64_t begin) {
    struct line_table *table = reader->table;
    struct line_row *rows = vector_at(&reader->rows, sequence->first);
    sort_rows(rows, sequence->count);
    for (size_t i = 0; i < sequence->count && rows[i].address < sequence->end; i++) {
        struct line_row row = rows[i];
        if (i + 1 < sequence->count && rows[i + 1].address <= begin && row.address < begin)
            continue;
        row.address = row.address < begin ? begin : row.address;
        vector_push(&table->arena, &table->rows, row);
    }
    vector_push(&table->arena, &table->rows, ((struct line_row){.address = sequence->end}));
}

static void take_sequences(struct reader *reader) {
    uint64_t told = 0; /* end of the code that has rows already */
    if (reader->sequences.count)
        qsort(reader->sequences.data, reader->sequences.count, sizeof *reader->sequences.data,
              compare_sequences);
    for (size_t i = 0; i < reader->sequences.count; i++) {
        const struct sequence *sequence = &reader->sequences.data[i];
        if (sequence->end <= told)
            continue;
        take_sequence(reader, sequence, sequence->begin < told ? told : sequence->begin);
        told = sequence->end;
    }
}

void line_table_read(struct line_table *table, Dwarf *dwarf, Elf *code) {
    struct reader reader = {.table = table};
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    table->is_read = true;
    vector_push(&table->arena, &table->files, "");
    if (!dwarf || !code)
        return;
    find_section(&reader, dwarf_getelf(dwarf));
    find_code(&reader, code);
    while (reader.bytes && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        read_unit(&reader, &die);
    take_sequences(&reader);
    arena_release(&reader.scratch);
}

void line_table_release(struct line_table *table) {
    arena_release(&table->arena);
    *table = (struct line_table){0};
}

const struct line_table *binary_lines(const struct binary *binary) {
    if (!binary->lines->is_read)
        line_table_read(binary->lines, binary->dwarf, binary->elf);
    return binary->lines;
}

const char *suggest_source(struct arena *arena, const struct line_table *table, const char *file) {
    struct near_names near_names = {.wanted = last_part(file)};
    for (size_t i = 1; i < table->files.count; i++)
        offer_name(&near_names, last_part(table->files.data[i]));
    return suggest(arena, &near_names);
}

const struct line_row *line_table_find(const struct line_table *table, uint64_t address) {
    size_t low = 0, high = table->rows.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->rows.data[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && table->rows.data[low - 1].line ? &table->rows.data[low - 1] : NULL;
}
