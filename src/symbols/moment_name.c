/* moment_name.c: moments as text; see moment_name.h. */
#include "symbols/moment_name.h"

#include "symbols/demangle.h"
#include "symbols/line_table.h"
#include "symbols/loop_forms.h"
#include "symbols/procedure.h"
#include "util/near.h"
#include "util/path.h"
#include "x86/decode.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUILD_DIGITS = 8
};

/* Reads a number at *TEXT, decimal or with 0x, and moves *TEXT behind it. */
static bool take_number(const char **text, uint64_t *value) {
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *value = strtoull(*text, &end, strncmp(*text, "0x", 2) == 0 ? 16 : 10);
    *text = end;
    return errno == 0;
}

/* Returns the '+' in front of the offset, or NULL. A '+' of "operator+" is not one. */
static char *find_plus(char *text) {
    static const char word[] = "operator";
    char *plus = strrchr(text, '+'), *before = plus;
    while (before && before > text && before[-1] == '+')
        before--;
    size_t length = before ? (size_t)(before - text) : 0, wanted = sizeof word - 1;
    bool of_operator = length >= wanted && strncmp(before - wanted, word, wanted) == 0;
    return of_operator && !isdigit((unsigned char)plus[1]) ? NULL : plus;
}

/* Reads FILE:LINE, FUNCTION+OFFSET or FUNCTION. TEXT belongs to the caller and is modified. */
static const char *read_place(char *text, struct moment_name *name) {
    char *colon = strrchr(text, ':'), *plus = find_plus(text);
    uint64_t number;
    name->place = text;
    if (colon && colon > text && colon[-1] != ':') {
        const char *digits = colon + 1;
        if (!take_number(&digits, &number) || *digits || number == 0 || number > UINT32_MAX)
            return "the line must be a number";
        *colon = '\0';
        name->line = (unsigned)number;
    } else if (plus) {
        const char *digits = plus + 1;
        if (!take_number(&digits, &name->offset) || *digits)
            return "the offset in the function must be a number";
        *plus = '\0';
    }
    return *name->place ? NULL : "there is no function or file in front of '@'";
}

/* Whether TEXT, LENGTH characters, is numbers with one of ":./" between each two. */
static bool is_thread_path(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        bool is_inner = i > 0 && i + 1 < length && isdigit((unsigned char)text[i + 1]);
        if (!isdigit((unsigned char)text[i]) && (!is_inner || !strchr(":./", text[i])))
            return false;
    }
    return length;
}

/* Reads a thread at *TEXT: a number, or the name that it has in a recording. */
static const char *read_thread(struct arena *arena, const char **text, struct moment_name *name) {
    size_t length = strspn(*text, "0123456789:./");
    uint64_t number = 0;
    const char *digits = *text;
    if (!is_thread_path(*text, length))
        return "the thread behind '/' must be a number from 1";
    name->thread_name = arena_copy(arena, *text, length);
    if (strspn(*text, "0123456789") == length &&
        (!take_number(&digits, &number) || number == 0 || number > UINT32_MAX))
        return "the thread behind '/' must be a number from 1";
    name->thread = (uint32_t)number;
    *text += length;
    return NULL;
}

static const char *read_tail(struct arena *arena, const char *text, struct moment_name *name) {
    const char *wrong = NULL;
    if (!take_number(&text, &name->ticks))
        return "there must be a number of ticks behind '@'";
    if (*text == '#') {
        text++;
        if (!take_number(&text, &name->calls) || name->calls == 0)
            return "there must be a number of system calls from 1 behind '#'";
    }
    name->thread = 1;
    name->thread_name = "1";
    if (*text == '/') {
        text++;
        wrong = read_thread(arena, &text, name);
        if (wrong)
            return wrong;
    }
    name->build = "";
    if (*text == '~') {
        name->build = ++text;
        text += strspn(text, "0123456789abcdef");
        if (text == name->build)
            return "there must be digits of a build id behind '~'";
    }
    return *text ? "something follows its end" : NULL;
}

const char *read_recorded_moment(struct arena *arena, const char *text, struct moment_name *name) {
    *name = (struct moment_name){.place = ""};
    const char *at = strrchr(text, '@');
    if (!at)
        return "it must be WHERE@TICKS, such as 'main+0x10@1000' or 'main.c:10@1000'";
    const char *wrong = read_tail(arena, arena_print(arena, "%s", at + 1), name);
    return wrong ? wrong : read_place(arena_copy(arena, text, (size_t)(at - text)), name);
}

const char *read_moment(struct arena *arena, const char *text, struct moment_name *name) {
    const char *wrong = read_recorded_moment(arena, text, name);
    if (!wrong && (name->calls || !name->thread))
        wrong = "it is a moment of a recording: '#' is the number of a system call, and '1:3' the "
                "name of a thread; give a recording";
    return wrong;
}

bool is_build_id(const uint8_t *id, size_t size, const char *build) {
    char digits[3];
    for (size_t i = 0; build[i]; i += 2) {
        if (i / 2 >= size)
            return false;
        snprintf(digits, sizeof digits, "%02x", id[i / 2]);
        if (strncmp(digits, build + i, build[i + 1] ? 2 : 1) != 0)
            return false;
        if (!build[i + 1])
            break;
    }
    return true;
}

/* Whether an instruction begins at OFFSET. A breakpoint elsewhere would damage an instruction. If
 * the function contains data, the result is not certain. */
static bool begins_instruction(const struct binary *binary, const struct symbol *symbol,
                               uint64_t offset) {
    size_t count = 0;
    const uint8_t *code = binary_code(binary, symbol->address, &count);
    uint64_t at = 0;
    struct decoded decoded;
    if (!code || count < symbol->size)
        return false;
    while (at < offset && decode_instruction(code + at, symbol->size - at, &decoded))
        at += decoded.size;
    return at <= offset;
}

/* Whether NAME means SYMBOL, by its symbol or by one of PROCEDURES. */
static bool is_meant(const struct symbol *symbol, const char *name,
                     const procedure_list *procedures) {
    for (size_t i = 0; i < procedures->count; i++)
        if (procedures->data[i].address && procedures->data[i].address == symbol->address)
            return true;
    return is_called(symbol->name, name);
}

/* Sets PLACES, and whether there is such a function (KNOWN) that has this offset (INSIDE). */
static void find_by_name(struct arena *arena, const struct binary *binary,
                         const struct moment_name *name, const procedure_list *procedures,
                         address_list *places, bool *known, bool *inside) {
    for (size_t i = 0; i < binary->names.count; i++) {
        const struct symbol *symbol = &binary->names.data[i];
        if (!is_meant(symbol, name->place, procedures))
            continue;
        *known = true;
        if (name->offset >= symbol->size)
            continue;
        *inside = true;
        if (begins_instruction(binary, symbol, name->offset))
            vector_push(arena, places, symbol->address + name->offset);
    }
}

/* Returns the message that there is no function NAME, with a similar name as a suggestion. */
static const char *no_function(struct arena *arena, const struct binary *binary, const char *name) {
    struct near_names near_names = {.wanted = name};
    for (size_t i = 0; i < binary->names.count; i++) {
        const struct symbol *symbol = &binary->names.data[i];
        if (symbol->size)
            offer_name(&near_names, plain_name(arena, symbol->name));
    }
    return arena_print(arena, "the program has no function '%s'%s", name,
                       suggest(arena, &near_names));
}

static const char *find_in_function(struct arena *arena, const struct binary *binary,
                                    const struct moment_name *name, address_list *places) {
    bool known = false, inside = false;
    procedure_list procedures = {0};
    find_by_name(arena, binary, name, &procedures, places, &known, &inside);
    if (!known) {
        find_procedures(arena, binary, name->place, &procedures);
        find_by_name(arena, binary, name, &procedures, places, &known, &inside);
    }
    if (places->count)
        return NULL;
    if (inside)
        return arena_print(arena, "no instruction of '%s' begins there", name->place);
    return known ? arena_print(arena, "'%s' is shorter than that", name->place)
                 : no_function(arena, binary, name->place);
}

static const char *find_on_line(struct arena *arena, const struct binary *binary,
                                const struct moment_name *name, address_list *places) {
    const struct line_table *table = binary_lines(binary);
    unsigned next = 0; /* the next line that has code; 0: none */
    if (!binary->dwarf)
        return "the program has no debug information; build it with -g";
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct line_row *row = &table->rows.data[i];
        if (row->line < name->line || !ends_in(*vector_at(&table->files, row->file), name->place))
            continue;
        if (row->line == name->line)
            vector_push(arena, places, row->address);
        else if (!next || row->line < next)
            next = row->line;
    }
    if (places->count)
        return NULL;
    if (next)
        return arena_print(arena, "there is no code at line %u; the next is line %u", name->line,
                           next);
    return arena_print(arena, "no source file '%s' has code at or behind line %u%s", name->place,
                       name->line, suggest_source(arena, table, name->place));
}

const char *find_places(struct arena *arena, const struct binary *binary,
                        const struct moment_name *name, address_list *places) {
    if (!is_build_id(binary->build_id, binary->build_id_size, name->build))
        return arena_print(arena, "it is a moment of another build (build id %s...)", name->build);
    const char *wrong = name->line ? find_on_line(arena, binary, name, places)
                                   : find_in_function(arena, binary, name, places);
    add_forms(arena, binary, places);
    return wrong;
}

const char *place_text(struct arena *arena, const struct binary *binary, uint64_t address) {
    const struct symbol *best = NULL;
    for (size_t i = 0; i < binary->symbols.count; i++) {
        const struct symbol *symbol = &binary->symbols.data[i];
        if (address - symbol->address < symbol->size)
            best = symbol;
    }
    return best ? arena_print(arena, "%s+0x%llx", best->name,
                              (unsigned long long)(address - best->address))
                : arena_print(arena, "0x%llx", (unsigned long long)address);
}

const char *find_line(struct arena *arena, const struct binary *binary, uint64_t address,
                      unsigned *line) {
    const struct line_table *table = binary_lines(binary);
    const struct line_row *row = line_table_find(table, address);
    if (!row)
        return NULL;
    *line = row->line;
    const char *file = *vector_at(&table->files, row->file);
    return arena_copy(arena, file, strlen(file));
}

const char *line_text(struct arena *arena, const struct binary *binary, uint64_t address) {
    unsigned line = 0;
    const char *file = find_line(arena, binary, address, &line);
    return file ? arena_print(arena, "%s:%u", last_part(file), line) : "";
}

const char *build_text(struct arena *arena, const struct binary *binary) {
    char build[BUILD_DIGITS + 2] = "";
    for (size_t i = 0; i < BUILD_DIGITS / 2 && i < binary->build_id_size; i++)
        snprintf(build + (i ? 1 + 2 * i : 0), sizeof build - 2 * i, i ? "%02x" : "~%02x",
                 binary->build_id[i]);
    return arena_copy(arena, build, strlen(build));
}

const char *moment_text(struct arena *arena, const struct binary *binary, uint64_t address,
                        uint64_t ticks, uint64_t thread) {
    return arena_print(arena, "%s@%llu/%llu%s", place_text(arena, binary, address),
                       (unsigned long long)ticks, (unsigned long long)thread,
                       build_text(arena, binary));
}

const char *recorded_moment_text(struct arena *arena, const struct binary *binary, uint64_t address,
                                 uint64_t ticks, uint64_t calls, const char *thread) {
    const char *call = calls ? arena_print(arena, "#%llu", (unsigned long long)calls) : "";
    return arena_print(arena, "%s@%llu%s/%s%s",
                       address ? place_text(arena, binary, address) : "outside",
                       (unsigned long long)ticks, call, thread, build_text(arena, binary));
}
