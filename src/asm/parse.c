/* parse.c: reads statements, sections and symbols from assembly text.
 *
 * It knows the assembler's lexical rules and a few directives. An instruction is a statement that
 * is neither a label nor a directive, and it may be a branch that names a symbol. Debugging
 * sections are most of a compiler's text. They are skipped line by line.
 *
 * Not perfect: macros and conditional assembly are not expanded. A file with them is marked, and
 * the functions that contain them are left alone.
 *
 * requires: nothing   makes: text, statements, sections, symbols, references */
#include "asm/lex.h"
#include "asm/locations.h"
#include "asm/macros.h"
#include "asm/unit.h"

#include <string.h>
#include <strings.h>

enum {
    SECTION_STACK = 64
};

struct parser {
    struct unit *unit;
    struct lexer lexer;
    uint32_t section;  /* the current one */
    uint32_t previous; /* for .previous */
    uint32_t stack[SECTION_STACK][2];
    unsigned depth;
    bool inline_asm;
    size_t asm_start; /* the first statement of the current inline assembly */
    bool entered;     /* the section has changed, and has no statement since then */
    bool intel;
    uint32_t call_site_field; /* position in a record of an exception table, which has four
                                 fields */
    struct map section_index;
    struct macros macros;
    struct map numeric; /* by the number of a label "1:": how many there are so far */
};

uint32_t find_symbol(struct unit *unit, const char *name, size_t length) {
    uint32_t *index = map_add(&unit->arena, &unit->symbol_index, name, length, NONE);
    if (*index == NONE) {
        *index = (uint32_t)unit->symbols.count;
        vector_push(&unit->arena, &unit->symbols,
                    ((struct symbol){.name = name,
                                     .length = (uint32_t)length,
                                     .statement = NONE,
                                     .local = length > 2 && name[0] == '.' && name[1] == 'L'}));
    }
    return *index;
}

/* Returns a symbol. Call find_symbol before this function: it may move the symbols. */
static struct symbol *symbol_at(struct parser *p, uint32_t index) {
    return &p->unit->symbols.data[index];
}

/* Returns a unique name for a numeric label: "1:" may occur many times. "1b" is the last one, "1f"
 * the next. */
static struct span name_numeric(struct arena *arena, struct span number, uint32_t ordinal) {
    const char *name = arena_print(arena, "%.*s\001%u", (int)number.length, number.start, ordinal);
    return (struct span){name, strlen(name)};
}

struct span numeric_label(struct arena *arena, const struct map *counts, struct span name) {
    bool next = name.start[--name.length] == 'f';
    const uint32_t *count = map_find(counts, name.start, name.length);
    return name_numeric(arena, name, (count ? *count : 0) + next);
}

/* Returns the symbol that an operand names. The name may refer to a numeric label. */
static uint32_t operand_symbol(struct parser *p, struct span name) {
    if (is_numeric_label(name))
        name = numeric_label(&p->unit->arena, &p->numeric, name);
    return find_symbol(p->unit, name.start, name.length);
}

/* ---- sections ---- */

static bool is_ignored_section(struct span name) {
    static const char *const prefixes[] = {
        ".debug",       ".gnu.lto_",     ".gnu.debuglto_", ".eh_frame",
        ".note",        ".comment",      ".stab",          "__patchable_function_entries",
        "__mcount_loc", ".llvm_addrsig", ".llvm.",         ".deplibs",
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (span_starts(name, prefixes[i]))
            return true;
    return false;
}

/* FLAGS is the quoted second argument, or empty. */
static bool is_executable_section(struct span name, struct span flags) {
    if (flags.length)
        return memchr(flags.start, 'x', flags.length) != NULL;
    return (span_starts(name, ".text") && (name.length == 5 || name.start[5] == '.')) ||
           (span_starts(name, ".init") && name.length == 5) ||
           (span_starts(name, ".fini") && name.length == 5);
}

/* Finds or adds the section of a directive. The whole directive identifies it, since COMDAT groups
 * have sections of the same name. */
static uint32_t find_section(struct parser *p, struct span name, struct span flags,
                             struct span directive) {
    struct unit *unit = p->unit;
    char *line = arena_copy(&unit->arena, directive.start, directive.length);
    uint32_t *index = map_add(&unit->arena, &p->section_index, line, directive.length, NONE);
    if (*index != NONE)
        return *index;
    /* ".section .text.f" after a full directive enters the section of that name again */
    if (!flags.length)
        for (uint32_t i = 0; i < unit->sections.count; i++)
            if (strlen(unit->sections.data[i].name) == name.length &&
                memcmp(unit->sections.data[i].name, name.start, name.length) == 0)
                return *index = i;
    *index = (uint32_t)unit->sections.count;
    struct section section = {
        .name = arena_copy(&unit->arena, name.start, name.length),
        .directive = line,
        .executable = is_executable_section(name, flags),
        .ignored = is_ignored_section(name),
        .exceptions = span_starts(name, ".gcc_except_table"),
        .patches =
            span_starts(name, "__patchable_function_entries") || span_starts(name, "__mcount_loc"),
        .describes = span_starts(name, ".debug") || span_starts(name, ".eh_frame"),
    };
    section.ignored = section.ignored && !section.executable;
    vector_push(&unit->arena, &unit->sections, section);
    return *index;
}

static void enter_section(struct parser *p, uint32_t section) {
    p->previous = p->section;
    p->section = section;
    p->entered = true;
}

/* Enters the section of .section NAME, "flags", ... and of .pushsection. */
static void parse_section(struct parser *p, struct span arguments, bool push) {
    struct cursor cursor = cursor_over(arguments);
    struct span name = next_argument(&cursor);
    struct span flags = next_argument(&cursor);
    bool subsection = flags.length && flags.start[0] != '"'; /* .pushsection NAME, SUBSECTION */
    bool other = subsection && !span_is(flags, "0");
    flags.length = subsection ? 0 : flags.length;
    if (push && p->depth < SECTION_STACK) {
        p->stack[p->depth][0] = p->section;
        p->stack[p->depth++][1] = p->previous;
    }
    char *line =
        arena_print(&p->unit->arena, ".section %.*s", (int)arguments.length, arguments.start);
    enter_section(p, find_section(p, unquoted(name), flags, (struct span){line, strlen(line)}));
    p->unit->sections.data[p->section].subsections |= other;
}

static void pop_section(struct parser *p) {
    if (!p->depth)
        return;
    p->entered = true;
    p->section = p->stack[--p->depth][0];
    p->previous = p->stack[p->depth][1];
}

/* Enters the section of .text, .data, .bss. With the number of a subsection, its text is elsewhere.
 */
static void parse_short_section(struct parser *p, struct span word, struct span arguments) {
    struct span line = word;
    enter_section(p, find_section(p, word, (struct span){0}, line));
    if (arguments.length && !(arguments.length == 1 && arguments.start[0] == '0'))
        p->unit->sections.data[p->section].subsections = true;
}

/* Returns whether WORD changes the section. */
static bool parse_section_change(struct parser *p, struct span word, struct span arguments) {
    if (span_is(word, ".text") || span_is(word, ".data") || span_is(word, ".bss"))
        parse_short_section(p, word, arguments);
    else if (span_is(word, ".section"))
        parse_section(p, arguments, false);
    else if (span_is(word, ".pushsection"))
        parse_section(p, arguments, true);
    else if (span_is(word, ".popsection"))
        pop_section(p);
    else if (span_is(word, ".previous"))
        enter_section(p, p->previous);
    else if (span_is(word, ".subsection"))
        p->unit->sections.data[p->section].subsections = true;
    else
        return false;
    return true;
}

/* ---- directives ---- */

/* Reads ".type f, @function", also without the comma: ".type f STT_FUNC". */
static void parse_type(struct parser *p, struct span arguments) {
    struct cursor cursor = cursor_over(arguments);
    struct span name = next_argument(&cursor), type = unquoted(next_argument(&cursor));
    if (!type.length) {
        struct span all = name;
        name = first_word(all);
        type = unquoted(behind(all, name));
    }
    name = unquoted(name);
    if (!name.length || type.length < 2)
        return;
    struct symbol *symbol = symbol_at(p, find_symbol(p->unit, name.start, name.length));
    if (span_ends(type, "gnu_indirect_function") || span_ends(type, "STT_GNU_IFUNC"))
        symbol->indirect = true;
    else if (span_ends(type, "function") || span_ends(type, "STT_FUNC"))
        symbol->function = true;
}

static void parse_binding(struct parser *p, struct span word, struct span arguments) {
    struct cursor cursor = cursor_over(arguments);
    for (;;) {
        struct span name = unquoted(next_argument(&cursor));
        if (!name.length)
            return;
        struct symbol *symbol = symbol_at(p, find_symbol(p->unit, name.start, name.length));
        symbol->global = true;
        symbol->weak |= span_is(word, ".weak");
    }
}

/* Whether TEXT, "x, .-f" or "x = .-f", is a distance to the current address. It makes neither name
 * an alias. */
static bool is_size(struct span text) {
    const char *end = text.start + text.length, *sign = memchr(text.start, '=', text.length);
    if (!sign)
        sign = memchr(text.start, ',', text.length);
    if (!sign)
        return false;
    struct span value = behind(text, (struct span){sign, 1});
    if (!value.length || *value.start != '.')
        return false;
    struct span rest = behind(value, (struct span){value.start, 1});
    return rest.start < end && *rest.start == '-';
}

/* Reads .set A, B: the address of each may be known by the other's name. */
static void parse_assignment(struct parser *p, struct span arguments) {
    struct cursor cursor = cursor_over(arguments);
    struct span name;
    if (is_size(arguments))
        return;
    uint32_t first = NONE;
    while (next_name(&cursor, &name)) {
        uint32_t symbol = operand_symbol(p, name);
        symbol_at(p, symbol)->aliased = true;
        if (first == NONE)
            first = symbol;
        else
            vector_push(&p->unit->arena, &p->unit->assignments,
                        ((struct assignment){first, symbol}));
    }
}

/* Reads the names in a data directive. Each call site in an exception table has four fields: start,
 * length, landing pad, action. So the third one is the landing pad (LSB C++ exception handling; the
 * same in gcc and clang). */
static void parse_data(struct parser *p, struct span word, struct span arguments,
                       uint32_t statement) {
    const struct section *section = &p->unit->sections.data[p->section];
    if (section->describes)
        return;
    bool field = section->exceptions && (span_is(word, ".uleb128") || span_is(word, ".byte"));
    struct cursor cursor = cursor_over(arguments);
    struct span name;
    bool first = true;
    while (next_name(&cursor, &name)) {
        uint32_t index = operand_symbol(p, name);
        struct symbol *symbol = symbol_at(p, index);
        if (!section->exceptions) {
            vector_push(&p->unit->arena, &p->unit->references,
                        ((struct reference){index, statement}));
            symbol->address_taken |= !section->ignored;
        } else if (field && first && p->call_site_field == 2) {
            symbol->landing_pad = true;
        }
        first = false;
    }
    if (field)
        p->call_site_field = (p->call_site_field + 1) % 4;
}

enum directive_kind {
    KIND_OTHER,
    KIND_ALIGN,
    KIND_DATA,
    KIND_TEXT, /* data without names, such as strings */
    KIND_OPAQUE
};

/* Returns what a directive outputs here. One that is not in the table outputs no bytes. */
static enum directive_kind directive_kind(struct span word) {
    static const struct {
        const char *name;
        enum directive_kind kind;
    } table[] = {
        {".p2align", KIND_ALIGN},  {".balign", KIND_ALIGN},     {".align", KIND_ALIGN},
        {".p2alignw", KIND_ALIGN}, {".p2alignl", KIND_ALIGN},   {".byte", KIND_DATA},
        {".value", KIND_DATA},     {".word", KIND_DATA},        {".short", KIND_DATA},
        {".hword", KIND_DATA},     {".2byte", KIND_DATA},       {".long", KIND_DATA},
        {".int", KIND_DATA},       {".4byte", KIND_DATA},       {".quad", KIND_DATA},
        {".8byte", KIND_DATA},     {".octa", KIND_DATA},        {".ascii", KIND_TEXT},
        {".asciz", KIND_TEXT},     {".string", KIND_TEXT},      {".string8", KIND_TEXT},
        {".string16", KIND_TEXT},  {".string32", KIND_TEXT},    {".string64", KIND_TEXT},
        {".zero", KIND_DATA},      {".skip", KIND_DATA},        {".space", KIND_DATA},
        {".fill", KIND_DATA},      {".org", KIND_DATA},         {".nops", KIND_DATA},
        {".nop", KIND_DATA},       {".uleb128", KIND_DATA},     {".sleb128", KIND_DATA},
        {".incbin", KIND_TEXT},    {".float", KIND_DATA},       {".double", KIND_DATA},
        {".single", KIND_DATA},    {".tfloat", KIND_DATA},      {".insn", KIND_DATA},
        {".base64", KIND_TEXT},    {".rept", KIND_OPAQUE},      {".irp", KIND_OPAQUE},
        {".irpc", KIND_OPAQUE},    {".include", KIND_OPAQUE},   {".if", KIND_OPAQUE},
        {".ifdef", KIND_OPAQUE},   {".ifndef", KIND_OPAQUE},    {".ifb", KIND_OPAQUE},
        {".ifnb", KIND_OPAQUE},    {".ifc", KIND_OPAQUE},       {".ifeq", KIND_OPAQUE},
        {".ifne", KIND_OPAQUE},    {".ifge", KIND_OPAQUE},      {".ifgt", KIND_OPAQUE},
        {".ifle", KIND_OPAQUE},    {".iflt", KIND_OPAQUE},      {".ifnc", KIND_OPAQUE},
        {".ifeqs", KIND_OPAQUE},   {".ifnes", KIND_OPAQUE},     {".code32", KIND_OPAQUE},
        {".code16", KIND_OPAQUE},  {".code16gcc", KIND_OPAQUE}, {".bundle_align_mode", KIND_OPAQUE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (span_is(word, table[i].name))
            return table[i].kind;
    return KIND_OTHER;
}

static void note_file(struct parser *p, struct span arguments) {
    /* .file "x.c" is the unit's source; .file 1 "x.c" is for .loc */
    if (arguments.length && arguments.start[0] == '"' && !p->unit->source[0]) {
        struct span name = unquoted(arguments);
        p->unit->source = arena_copy(&p->unit->arena, name.start, name.length);
    }
    if (arguments.length && arguments.start[0] == '"')
        note_renamed_file(p->unit, arguments);
    if (arguments.length && arguments.start[0] >= '0' && arguments.start[0] <= '9')
        note_numbered_file(p->unit, arguments);
}

static void note_ident(struct parser *p, struct span arguments) {
    struct span name = unquoted(arguments);
    p->unit->compiler = arena_copy(&p->unit->arena, name.start, name.length);
    p->unit->compiled = true;
}

/* A ".macro" and its text, up to its ".endm", are one statement. */
static void parse_macro(struct parser *p, struct span arguments, struct statement *statement) {
    statement->opaque = !read_macro(&p->macros, &p->unit->arena, arguments, &p->lexer);
    statement->end = (uint32_t)(p->lexer.next - p->unit->text);
    p->unit->has_macros |= statement->opaque;
}

/* Reads a directive. Returns false if its statement has no further use and need not be kept. */
static bool parse_directive(struct parser *p, struct span word, struct span arguments,
                            struct statement *statement) {
    struct unit *unit = p->unit;
    if (span_is(word, ".loc")) {
        note_location(unit, arguments);
        return false;
    }
    if (span_starts(word, ".cfi_")) {
        bool begins = span_is(word, ".cfi_startproc"), ends = span_is(word, ".cfi_endproc");
        if (begins || ends)
            unit->sections.data[p->section].unwinds = begins;
        return true;
    }
    if (parse_section_change(p, word, arguments)) {
        p->call_site_field = 0;
        return false;
    }
    if (span_is(word, ".type"))
        parse_type(p, arguments);
    else if (span_is(word, ".globl") || span_is(word, ".global") || span_is(word, ".weak"))
        parse_binding(p, word, arguments);
    else if (span_is(word, ".set") || span_is(word, ".equ") || span_is(word, ".equiv") ||
             span_is(word, ".eqv"))
        parse_assignment(p, arguments);
    else if (span_is(word, ".file"))
        note_file(p, arguments);
    else if (span_is(word, ".ident"))
        note_ident(p, arguments);
    else if (span_is(word, ".intel_syntax"))
        p->intel = true;
    else if (span_is(word, ".att_syntax"))
        p->intel = false;
    else if (span_is(word, ".line") || span_is(word, ".linefile"))
        unit->counts_lines = true;
    else if (span_is(word, ".macro"))
        parse_macro(p, arguments, statement);
    else
        read_conditional(unit, &p->macros, word, p->section, p->depth);
    switch (directive_kind(word)) {
    case KIND_ALIGN:
        statement->aligns = true;
        break;
    case KIND_DATA:
        statement->data = true;
        parse_data(p, word, arguments, (uint32_t)unit->statements.count);
        break;
    case KIND_TEXT:
        statement->data = true;
        break;
    case KIND_OPAQUE:
        if (span_starts(word, ".irp")) /* they may be names of a table */
            parse_data(p, word, arguments, (uint32_t)unit->statements.count);
        statement->opaque = true;
        unit->has_macros = true;
        break;
    default:
        break;
    }
    return true;
}

/* ---- instructions ---- */

static bool is_prefix_word(struct span word) {
    static const char *const words[] = {
        "lock",  "rep",   "repe", "repz",     "repne",    "repnz",  "data16", "addr32",
        "rex64", "rex.W", "rex",  "notrack",  "bnd",      "cs",     "ds",     "es",
        "fs",    "gs",    "ss",   "xacquire", "xrelease", "data32",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word.length == strlen(words[i]) && strncasecmp(word.start, words[i], word.length) == 0)
            return true;
    return word.length && word.start[0] == '{'; /* "{disp32}" */
}

/* Whether the mnemonic can transfer control to a symbol that its operand names. */
static bool is_branch_word(struct span word) {
    static const char *const starts[] = {"j", "call", "loop", "xbegin"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (word.length >= strlen(starts[i]) &&
            strncasecmp(word.start, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* In Intel syntax, a branch may have a distance: "jz short 1f". Returns the operand without it. */
static struct span behind_distance(struct span operand) {
    static const char *const words[] = {"short", "near", "ptr"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct span word = first_word(operand);
        if (word.length == strlen(words[i]) &&
            strncasecmp(word.start, words[i], word.length) == 0 && behind(operand, word).length)
            operand = behind(operand, word);
    }
    return operand;
}

/* Whether the name is a register: "call rax" in Intel syntax is indirect. A name in quotes is a
 * symbol. */
static bool is_register_name(struct span name) {
    static const char *const words[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (name.length == 3 && strncasecmp(name.start, words[i], 3) == 0)
            return true;
    if (name.length < 2 || name.length > 3 || (name.start[0] != 'r' && name.start[0] != 'R'))
        return false;
    unsigned number = 0;
    for (size_t i = 1; i < name.length; i++) {
        if (name.start[i] < '0' || name.start[i] > '9')
            return false;
        number = number * 10 + (unsigned)(name.start[i] - '0');
    }
    return number >= 8 && number < 32; /* r8, not r08 or r40 */
}

/* Reads an instruction, which may have prefixes: "lock; cmpxchg", "notrack jmp *%rax". */
static void parse_instruction(struct parser *p, struct span text, struct statement *statement) {
    struct span word = first_word(text);
    struct span rest = behind(text, word);
    while (is_prefix_word(word)) {
        if (!rest.length) {
            statement->prefix = true;
            return;
        }
        word = first_word(rest);
        rest = behind(rest, word);
    }
    if (statement->intel && is_branch_word(word))
        rest = behind_distance(rest);
    struct span name;
    struct cursor cursor = cursor_over(rest);
    bool direct = is_branch_word(word) && rest.length && rest.start[0] != '*' &&
                  rest.start[0] != '%' && !memchr(rest.start, '[', rest.length) &&
                  !(statement->intel && is_register_name(first_word(rest)));
    if (direct && next_name(&cursor, &name)) {
        statement->symbol = operand_symbol(p, name);
        symbol_at(p, statement->symbol)->branch_target = true;
        const char *end = rest.start + rest.length;
        for (const char *c = name.start + name.length; c < end; c++)
            if (*c == '+' || *c == '-')
                statement->opaque = true; /* a jump to an address near the symbol */
        return;
    }
    if (direct && memchr(rest.start, '.', rest.length) && !next_name(&cursor, &name))
        statement->opaque = true; /* jmp .+5 */
    while (next_name(&cursor, &name)) {
        uint32_t index = operand_symbol(p, name);
        symbol_at(p, index)->address_taken = true;
        vector_push(&p->unit->arena, &p->unit->references,
                    ((struct reference){index, (uint32_t)p->unit->statements.count}));
    }
}

/* ---- statements ---- */

static void add_statement(struct parser *p, struct statement statement) {
    struct unit *unit = p->unit;
    struct section *section = &unit->sections.data[statement.section];
    statement.unwinds = section->unwinds;
    unit->inline_asm |= statement.inline_asm;
    statement.begins = p->entered;
    p->entered = false;
    vector_push(&unit->arena, &section->statements, (uint32_t)unit->statements.count);
    vector_push(&unit->arena, &unit->statements, statement);
}

static void parse_label(struct parser *p, struct span name, struct statement statement) {
    struct unit *unit = p->unit;
    uint32_t index;
    if (name.start[0] >= '0' && name.start[0] <= '9') {
        uint32_t *count = map_add(&unit->arena, &p->numeric, name.start, name.length, 0);
        name = name_numeric(&unit->arena, name, ++*count);
        index = find_symbol(unit, name.start, name.length);
        unit->symbols.data[index].local = true;
    } else {
        index = find_symbol(unit, name.start, name.length);
    }
    statement.kind = STATEMENT_LABEL;
    statement.symbol = index;
    unit->symbols.data[index].statement = (uint32_t)unit->statements.count;
    if (span_starts(name, ".LFB") || span_starts(name, ".Lfunc_begin") ||
        span_starts(name, ".Lfunc_end"))
        unit->compiled = true;
    if (span_starts(name, ".LLSDACSB") || span_starts(name, ".Lcst_begin"))
        p->call_site_field = 0;
    add_statement(p, statement);
}

/* Whether it is .byte 0x66 or the like: prefixes of the next instruction, in accesses to
 * thread-local variables. */
static bool is_prefix_data(struct span word, struct span arguments) {
    return (span_is(word, ".byte") && span_is(arguments, "0x66")) ||
           ((span_is(word, ".value") || span_is(word, ".word")) && span_is(arguments, "0x6666"));
}

/* Reads "x = .". If a name has two such statements, it is unknown which of them a use refers to. */
static void parse_place(struct parser *p, struct span name, struct statement statement) {
    struct unit *unit = p->unit;
    uint32_t earlier = unit->symbols.data[find_symbol(unit, name.start, name.length)].statement;
    if (earlier != NONE)
        unit->statements.data[earlier].opaque = statement.opaque = true;
    parse_label(p, name, statement);
}

static void parse_statement(struct parser *p, struct token token) {
    struct unit *unit = p->unit;
    const char *end = token.label ? p->lexer.next : token.text.start + token.text.length;
    struct statement statement = {
        .start = (uint32_t)(token.text.start - unit->text),
        .end = (uint32_t)(end - unit->text),
        .line = token.line,
        .section = p->section,
        .symbol = NONE,
        .inline_asm = p->inline_asm,
        .intel = p->intel,
    };
    if (token.label) {
        parse_label(p, unquoted(token.text), statement);
        return;
    }
    struct span word = first_word(token.text), place;
    struct span rest = behind(token.text, word);
    if (names_place(token.text, &place)) {
        parse_place(p, place, statement);
        return;
    }
    bool executable = unit->sections.data[p->section].executable;
    enum macro_kind macro = find_macro(&p->macros, word);
    statement.kind = STATEMENT_DIRECTIVE;
    if (is_assignment(token.text)) {
        parse_assignment(p, token.text);
    } else if (word.start[0] == '.') {
        if (executable && is_prefix_data(word, rest)) {
            statement.kind = STATEMENT_INSTRUCTION;
            statement.prefix = true;
        } else if (!parse_directive(p, word, rest, &statement)) {
            return;
        }
    } else if (macro != MACRO_NONE) {
        statement.data = macro == MACRO_DATA && !executable;
        statement.opaque = !statement.data;
        statement.expands = macro == MACRO_CODE && executable;
        unit->has_macros |= statement.opaque;
        parse_data(p, word, rest, (uint32_t)unit->statements.count);
    } else if (executable) {
        statement.kind = STATEMENT_INSTRUCTION;
        parse_instruction(p, token.text, &statement);
    } else {
        statement.opaque = true;
    }
    add_statement(p, statement);
}

/* The preprocessor begins its output with '# 0 "file.S"'. */
static void note_linemarker(struct unit *unit) {
    const char *c = unit->text, *end = unit->text + unit->size;
    if (unit->size < 5 || c[0] != '#' || c[1] != ' ' || c[2] < '0' || c[2] > '9')
        return;
    const char *quote = memchr(c, '"', unit->size), *newline = memchr(c, '\n', unit->size);
    const char *close = quote ? memchr(quote + 1, '"', (size_t)(end - quote - 1)) : NULL;
    if (close && newline && close < newline)
        unit->source = arena_copy(&unit->arena, quote + 1, (size_t)(close - quote - 1));
}

/* Reads a statement in a section that is skipped. */
static void parse_skipped(struct parser *p, struct span text) {
    struct span word = first_word(text), rest = behind(text, word);
    if (span_is(word, ".ident"))
        note_ident(p, rest);
    else
        parse_section_change(p, word, rest);
}

/* Marks labels at the end of an inline assembly. Its author does not know the code there. */
static void end_asm(struct parser *p) {
    enum {
        SECTIONS_MAX = 8
    };
    struct unit *unit = p->unit;
    uint32_t seen[SECTIONS_MAX]; /* sections with instructions or data further down */
    unsigned count = 0;
    for (size_t i = unit->statements.count; i-- > p->asm_start && count < SECTIONS_MAX;) {
        struct statement *s = &unit->statements.data[i];
        bool above = false;
        for (unsigned n = 0; n < count; n++)
            above |= seen[n] == s->section;
        if (s->kind == STATEMENT_LABEL)
            s->ends_asm = !above;
        else if (!above && (s->kind == STATEMENT_INSTRUCTION || s->data || s->opaque))
            seen[count++] = s->section;
    }
    p->asm_start = unit->statements.count;
}

static void note_marker(struct parser *p, const struct token *token) {
    if (token->places)
        note_line_marker(p->unit, token->text, token->line);
    if (token->places && !token->apart)
        return;
    if (p->inline_asm)
        end_asm(p);
    p->asm_start = p->unit->statements.count;
    if (!token->apart)
        p->inline_asm = token->app;
}

void parse_unit(struct unit *unit, const char *name, const char *text, size_t size) {
    struct parser *p = &(struct parser){.unit = unit};
    *unit = (struct unit){.name = name, .text = text, .size = size, .source = "", .compiler = ""};
    note_linemarker(unit);
    p->lexer = lexer_over(text, size);
    struct span first = {".text", 5};
    p->section = p->previous = find_section(p, first, (struct span){0}, first);
    struct token token;
    for (;;) {
        const struct section *section = &unit->sections.data[p->section];
        bool skip = section->ignored && !section->patches && unit->compiled && !p->inline_asm;
        if (skip && !skip_to_section_change(&p->lexer))
            return;
        if (!next_token(&p->lexer, &token))
            return;
        if (token.marker)
            note_marker(p, &token);
        else if (skip && !token.label)
            parse_skipped(p, token.text);
        else if (!skip)
            parse_statement(p, token);
    }
}

size_t statement_word(const struct unit *unit, const struct statement *statement) {
    struct span text = {unit->text + statement->start, statement->end - statement->start};
    return first_word(text).length;
}

bool statement_is(const struct unit *unit, const struct statement *statement, const char *word) {
    struct span text = {unit->text + statement->start, statement->end - statement->start};
    return span_is(first_word(text), word);
}
