/* measure.c: the machine code of the unit's text; see measure.h.
 *
 * The assembled text consists of the unit's code sections with anchors: labels at the start of each
 * fragment and around each alignment. Between two anchors there are only instructions. So the n-th
 * instruction of the bytes is the n-th of the text. Both ends must match, or the function is left
 * alone.
 *
 * Debug information, data and unwinding information of a compiler are left out, since they do not
 * move code. A person defines constants anywhere, and the size of an instruction depends on their
 * values: so if hand-written text has data, the whole text is assembled. The same is done if the
 * assembler needs the rest (for an expression with labels in data).
 *
 * requires: find_functions    makes: unit.code, asm_function.left_alone */
#include "x86/measure.h"

#include "asm/emit.h"
#include "util/diag.h"
#include "util/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANCHOR "__quipu_anchor_"

/* The position of an anchor in the object. */
struct anchor {
    const uint8_t *bytes; /* of its whole section; NULL: not found */
    size_t size;          /* of its section */
    uint64_t offset;
};

struct measurer {
    struct unit *unit;
    uint32_t *anchor_before; /* by statement: number of the anchor before it, or NONE */
    uint32_t *anchor_behind;
    uint32_t anchor_count;
    struct anchor *anchors;
};

/* ---- the assembled text ---- */

static void place_anchors(struct measurer *m) {
    struct unit *unit = m->unit;
    size_t count = unit->statements.count;
    m->anchor_before = ARENA_ARRAY(&unit->arena, uint32_t, count);
    m->anchor_behind = ARENA_ARRAY(&unit->arena, uint32_t, count);
    memset(m->anchor_before, 0xff, count * sizeof(uint32_t));
    memset(m->anchor_behind, 0xff, count * sizeof(uint32_t));
    for (size_t i = 0; i < unit->functions.count; i++) {
        const struct asm_function *function = &unit->functions.data[i];
        if (function->left_alone)
            continue;
        for (size_t f = 0; f < function->fragments.count; f++) {
            const struct fragment *fragment = &function->fragments.data[f];
            const uint32_t *list = unit->sections.data[fragment->section].statements.data;
            m->anchor_before[list[fragment->first]] = m->anchor_count++;
            for (uint32_t s = fragment->first; s < fragment->last; s++)
                if (unit->statements.data[list[s]].aligns) {
                    if (m->anchor_before[list[s]] == NONE)
                        m->anchor_before[list[s]] = m->anchor_count++;
                    m->anchor_behind[list[s]] = m->anchor_count++;
                }
        }
    }
    m->anchors = ARENA_ARRAY(&unit->arena, struct anchor, m->anchor_count);
}

/* Directives outside of code that change how code is assembled. */
static bool matters_to_code(const struct unit *unit, const struct statement *statement) {
    static const char *const words[] = {
        ".globl", ".global",       ".weak",       ".hidden", ".protected", ".internal",
        ".arch",  ".intel_syntax", ".att_syntax", ".code64", ".set",       ".equ",
        ".equiv", ".eqv",          ".macro",      ".purgem", ".altmacro",  ".noaltmacro"};
    if (statement->kind != STATEMENT_DIRECTIVE)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (statement_is(unit, statement, words[i]))
            return true;
    return false;
}

/* In code, only these directives do not matter. */
static bool is_unwinding(const struct unit *unit, const struct statement *statement) {
    return statement->kind == STATEMENT_DIRECTIVE && statement->end - statement->start > 5 &&
           memcmp(unit->text + statement->start, ".cfi_", 5) == 0;
}

static void build_code_text(const struct measurer *m, struct buffer *out) {
    const struct unit *unit = m->unit;
    uint32_t present = NONE;
    for (size_t i = 0; i < unit->statements.count; i++) {
        const struct statement *statement = &unit->statements.data[i];
        const struct section *section = &unit->sections.data[statement->section];
        if (section->executable ? is_unwinding(unit, statement) : !matters_to_code(unit, statement))
            continue;
        if (section->executable && present != statement->section) {
            buffer_text(out, section->directive);
            buffer_text(out, "\n");
            present = statement->section;
        }
        if (m->anchor_before[i] != NONE)
            buffer_print(out, ANCHOR "%u:\n", m->anchor_before[i]);
        buffer_add(out, unit->text + statement->start, statement->end - statement->start);
        buffer_text(out, "\n");
        if (m->anchor_behind[i] != NONE)
            buffer_print(out, ANCHOR "%u:\n", m->anchor_behind[i]);
    }
}

/* Whether hand-written text outside code may define constants. */
static bool may_define_constants(const struct unit *unit) {
    for (size_t i = 0; i < unit->statements.count; i++) {
        const struct statement *statement = &unit->statements.data[i];
        if (!unit->sections.data[statement->section].executable &&
            (!unit->compiled || statement->inline_asm))
            return true;
    }
    return false;
}

static void build_whole_text(const struct measurer *m, struct buffer *out) {
    struct unit *unit = m->unit;
    struct edit_list edits = {.arena = &unit->arena};
    for (size_t i = 0; i < unit->statements.count; i++) {
        const struct statement *statement = &unit->statements.data[i];
        if (m->anchor_before[i] != NONE)
            insert_before(&edits, statement,
                          arena_print(&unit->arena, ANCHOR "%u:", m->anchor_before[i]));
        if (m->anchor_behind[i] != NONE)
            insert_behind(&edits, statement,
                          arena_print(&unit->arena, ANCHOR "%u:", m->anchor_behind[i]));
    }
    emit_unit(unit, &edits, out);
}

/* ---- reading the object ---- */

static bool read_symbols(struct measurer *m, Elf *elf, Elf_Scn *table) {
    GElf_Shdr header;
    if (!gelf_getshdr(table, &header) || !header.sh_entsize)
        return false;
    Elf_Data *data = elf_getdata(table, NULL);
    if (!data)
        return false;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return false;
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (!name || strncmp(name, ANCHOR, sizeof ANCHOR - 1) != 0)
            continue;
        unsigned long number = strtoul(name + sizeof ANCHOR - 1, NULL, 10);
        Elf_Scn *section = elf_getscn(elf, symbol.st_shndx);
        Elf_Data *code = section ? elf_getdata(section, NULL) : NULL;
        if (number < m->anchor_count && code && code->d_buf && symbol.st_value <= code->d_size)
            m->anchors[number] = (struct anchor){code->d_buf, code->d_size, symbol.st_value};
    }
    return true;
}

static bool read_object(struct measurer *m, Elf *elf) {
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            return read_symbols(m, elf, section);
    }
    return false;
}

/* The assembler puts a wait before some x87 instructions, so one statement is two instructions. */
enum {
    WAIT_OPCODE = 0x9b
};

static bool measure_instruction(const struct anchor *anchor, uint64_t at, struct decoded *decoded) {
    if (at >= anchor->size || !decode_instruction(anchor->bytes + at, anchor->size - at, decoded))
        return false;
    if (anchor->bytes[at] == WAIT_OPCODE && decoded->size == 1) {
        struct decoded second;
        if (at + 1 < anchor->size &&
            decode_instruction(anchor->bytes + at + 1, anchor->size - at - 1, &second) &&
            anchor->bytes[at + 1] >= 0xd8 && anchor->bytes[at + 1] <= 0xdf) {
            second.size++;
            *decoded = second;
        }
    }
    return true;
}

static bool is_wait(const struct unit *unit, const struct statement *statement) {
    return statement_is(unit, statement, "fwait") || statement_is(unit, statement, "wait");
}

/* Walks over a fragment's statements and its bytes in parallel. A BARE fragment may have no bytes
 * and no section. */
static bool measure_fragment(struct measurer *m, const struct fragment *fragment, bool bare) {
    const struct unit *unit = m->unit;
    struct machine_code *code = unit->code;
    const uint32_t *list = unit->sections.data[fragment->section].statements.data;
    const struct anchor *anchor = &m->anchors[m->anchor_before[list[fragment->first]]];
    if (!anchor->bytes)
        return bare;
    uint64_t at = anchor->offset;
    for (uint32_t s = fragment->first; s < fragment->last; s++) {
        uint32_t index = list[s];
        const struct statement *statement = &unit->statements.data[index];
        code->offset[index] = (uint32_t)at;
        if (m->anchor_before[index] != NONE && m->anchors[m->anchor_before[index]].offset != at)
            return false;
        if (statement->aligns) {
            uint64_t end = m->anchors[m->anchor_behind[index]].offset;
            if (end < at || end > anchor->size)
                return false;
            code->bytes[index] = anchor->bytes + at;
            code->padding[index] = (uint32_t)(end - at);
            at = end;
        } else if (statement->kind == STATEMENT_INSTRUCTION && !statement->prefix) {
            struct decoded *decoded = &code->decoded[index];
            if (is_wait(unit, statement)
                    ? !decode_instruction(anchor->bytes + at, anchor->size - at, decoded)
                    : !measure_instruction(anchor, at, decoded))
                return false;
            at += decoded->size;
        }
    }
    return true;
}

/* The padding must outlive the object that it was read from. */
static void keep_padding(struct unit *unit) {
    for (size_t i = 0; i < unit->statements.count; i++)
        if (unit->code->padding[i])
            unit->code->bytes[i] = (const uint8_t *)arena_copy(
                &unit->arena, (const char *)unit->code->bytes[i], unit->code->padding[i]);
}

static void measure_functions(struct measurer *m) {
    struct unit *unit = m->unit;
    for (size_t i = 0; i < unit->functions.count; i++) {
        struct asm_function *function = &unit->functions.data[i];
        if (!function->left_alone)
            tell_subject(unit, (uint32_t)i);
        for (size_t f = 0; f < function->fragments.count && !function->left_alone; f++)
            if (!measure_fragment(m, &function->fragments.data[f], function->bare))
                function->left_alone = "its text and its bytes do not match";
    }
    tell_subject(unit, NONE);
    keep_padding(unit);
}

static bool read_back(struct measurer *m, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    bool good = elf && read_object(m, elf);
    if (good)
        measure_functions(m);
    elf_end(elf);
    close(fd);
    return good;
}

static bool assemble(char *const *assembler, const struct buffer *text, const char *object) {
    size_t count = 0;
    while (assembler[count])
        count++;
    char **argv = calloc(count + 4, sizeof *argv);
    if (!argv)
        die("out of memory");
    memcpy(argv, assembler, count * sizeof *argv);
    argv[count++] = (char *)"-o";
    argv[count++] = (char *)object;
    argv[count] = (char *)"-";
    int status = run_program(argv, text->data, text->count, true);
    free(argv);
    return status == 0;
}

/* Ends the program if the object has no room in the temporary directory. The unit is correct then,
 * and must not lose its counts. The assembler has removed OBJECT. */
static void check_room(char *object, size_t size) {
    int fd = open(object, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int cause = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)size + 1);
    if (fd >= 0)
        close(fd);
    if (cause != ENOSPC && cause != EDQUOT && cause != EFBIG)
        return;
    unlink(object);
    die("cannot write '%s': %s; set TMPDIR to a directory with room", object, strerror(cause));
}

bool measure_unit(struct unit *unit, char *const *assembler) {
    size_t count = unit->statements.count;
    struct measurer m = {.unit = unit};
    unit->code = ARENA_NEW(&unit->arena, struct machine_code);
    unit->code->decoded = ARENA_ARRAY(&unit->arena, struct decoded, count);
    unit->code->offset = ARENA_ARRAY(&unit->arena, uint32_t, count);
    unit->code->bytes = ARENA_ARRAY(&unit->arena, const uint8_t *, count);
    unit->code->padding = ARENA_ARRAY(&unit->arena, uint32_t, count);
    place_anchors(&m);
    char *object = make_temporary("quipu");
    if (!object) {
        error("cannot make a temporary file: %s", strerror(errno));
        return false;
    }
    struct buffer text = {0};
    bool good = false;
    if (!may_define_constants(unit)) {
        build_code_text(&m, &text);
        good = assemble(assembler, &text, object);
    }
    if (!good) {
        text.count = 0;
        build_whole_text(&m, &text);
        good = assemble(assembler, &text, object);
    }
    if (!good)
        check_room(object, text.count);
    good = good && read_back(&m, object);
    unlink(object);
    free(object);
    buffer_release(&text);
    return good;
}
