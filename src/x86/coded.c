/* coded.c: instructions that hand-written assembly contains as bytes; see coded.h.
 *
 * A line of bytes is an instruction if all its bytes are one, and the processor executes it there.
 * Control comes from the instruction before, or from a branch to the label before. Or a table or an
 * instruction contains the label's address, and an instruction without a label follows directly:
 * without the bytes nothing would lead to it. Behind a call, and at a function's begin, such an
 * instruction must follow the lines of bytes, too, and one line must have at least CODE_SURE bytes.
 *
 * Data that looks like an instruction by chance must stay data, since inserted code would move it.
 * For the same reason, an instruction in bytes must not contain the distance to an address. Bytes
 * that are prefixes of the next instruction belong to it, at a function's begin, too. No-operations
 * behind a jump are filling. So are .nops and .nop, unless a label there is known elsewhere: the
 * program may overwrite these.
 *
 * requires: parse_unit    makes: statements that are instructions */
#include "x86/coded.h"

#include "asm/lex.h"
#include "x86/names.h"

#include <string.h>
#include <strings.h>

enum {
    CODE_MAX = 15, /* bytes of an instruction */
    CODE_SURE = 4, /* so many bytes of data are not exactly one instruction by chance */
    BYTE_MAX = 255
};

/* ---- bytes ---- */

/* Returns a number, decimal or with 0x, or -1 for any other expression. */
static int read_byte(struct span text) {
    bool hexadecimal = text.length > 2 && strncasecmp(text.start, "0x", 2) == 0;
    const char *digits = hexadecimal ? "0123456789abcdef" : "0123456789";
    size_t base = strlen(digits), i = hexadecimal ? 2 : 0;
    int value = 0;
    if (!hexadecimal && text.length > 1 && text.start[0] == '0')
        return -1; /* octal, or binary */
    for (; i < text.length && value <= BYTE_MAX; i++) {
        char c = text.start[i] >= 'A' && text.start[i] <= 'F' ? (char)(text.start[i] | 0x20)
                                                              : text.start[i];
        const char *digit = c ? strchr(digits, c) : NULL;
        if (!digit)
            return -1;
        value = value * (int)base + (int)(digit - digits);
    }
    return text.length && value <= BYTE_MAX ? value : -1;
}

/* Returns the number of bytes in the statement; 0: more than an instruction has, or not only
 * bytes. */
static size_t read_bytes(const struct unit *unit, const struct statement *s, uint8_t *bytes) {
    struct span text = {unit->text + s->start, s->end - s->start};
    struct cursor cursor = cursor_over(behind(text, first_word(text)));
    size_t count = 0;
    for (struct span one; (one = next_argument(&cursor)).length; count++) {
        int value = read_byte(one);
        if (value < 0 || count == CODE_MAX)
            return 0;
        bytes[count] = (uint8_t)value;
    }
    return count;
}

/* ---- which bytes are accepted ---- */

bool is_landing_mark(const struct decoded *decoded) {
    return decoded->spelling.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
}

bool is_written_landing_mark(const struct unit *unit, const struct statement *statement) {
    return statement_is(unit, statement, "endbr64");
}

static bool is_relative(const uint8_t *code, size_t count) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, count, &instruction, operands)) ||
           instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE;
}

static bool is_return(const uint8_t *code, size_t count) {
    return (count == 1 && code[0] == 0xc3) ||
           (count == 2 && (code[0] == 0xf3 || code[0] == 0xf2) && code[1] == 0xc3);
}

/* Whether S is one instruction that continues behind itself, or returns. */
static bool decode_statement(const struct unit *unit, const struct statement *s, bool stores,
                             struct decoded *decoded) {
    uint8_t code[CODE_MAX];
    if (!statement_is(unit, s, ".byte"))
        return false;
    size_t count = read_bytes(unit, s, code);
    if (!count || !decode_instruction(code, count, decoded) || decoded->size != count)
        return false;
    if (decoded->class == CLASS_RETURN)
        return is_return(code, count);
    return decoded->class == CLASS_PLAIN &&
           (stores || (!decoded->stores && !writes_memory(decoded))) &&
           (!(decoded->registers_written & REGISTER_RSP) || count >= CODE_SURE) &&
           decoded->spelling.mnemonic != ZYDIS_MNEMONIC_FWAIT && !is_relative(code, count);
}

/* Whether S contains only prefixes. */
static bool is_prefix(const struct unit *unit, const struct statement *s) {
    static const uint8_t prefixes[] = {0x2e, 0x3e, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
    uint8_t code[CODE_MAX];
    size_t count = statement_is(unit, s, ".byte") ? read_bytes(unit, s, code) : 0;
    for (size_t i = 0; i < count; i++)
        if (!memchr(prefixes, code[i], sizeof prefixes))
            return false;
    return count;
}

/* ---- which bytes the processor executes ---- */

/* Whether the processor continues behind S, an instruction, at least sometimes. Calls and system
 * calls do not count, since they may not return. */
static bool goes_on(const struct unit *unit, const struct statement *s) {
    static const char *const ends[] = {
        "jmp", "ret",  "call", "ljmp", "lcall", "lret", "iret",    "sys",    "ud",     "hlt",
        "int", "rsm",  "rep",  "bnd",  "cs",    "ds",   "notrack", "xabort", "rex",    "data",
        "es",  "addr", "fs",   "gs",   "ss",    "lock", "xa",      "xr",     "xbegin", "{",
    };
    if (s->prefix || s->opaque)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strncasecmp(unit->text + s->start, ends[i], strlen(ends[i])) == 0)
            return false;
    return true;
}

/* Whether S puts no bytes, so that control passes over it. */
static bool is_nothing(const struct statement *s) {
    return s->kind == STATEMENT_DIRECTIVE && !s->data && !s->opaque && !s->aligns;
}

static bool is_text(const struct unit *unit, const struct section *section, size_t i) {
    if (i >= section->statements.count)
        return false;
    const struct statement *s = &unit->statements.data[section->statements.data[i]];
    return s->kind == STATEMENT_INSTRUCTION && !s->opaque && !s->prefix;
}

/* Whether statement I begins instructions that lead to the text behind them, and are very probably
 * not data. There may be data behind a call, if the callee skips it, and at a function's begin. */
static bool looks_like_code(const struct unit *unit, const struct section *section, size_t i) {
    struct decoded decoded;
    bool sure = false;
    for (; i < section->statements.count; i++) {
        const struct statement *s = &unit->statements.data[section->statements.data[i]];
        if (is_nothing(s))
            continue;
        if (!s->data || !decode_statement(unit, s, true, &decoded))
            break;
        sure |= decoded.size >= CODE_SURE;
    }
    return sure && is_text(unit, section, i);
}

/* Whether statement I and those directly behind it are prefixes, in bytes, of an instruction. That
 * may be in bytes, too. */
static bool leads_to_text(const struct unit *unit, const struct section *section, size_t i) {
    struct decoded decoded;
    while (i < section->statements.count &&
           is_prefix(unit, &unit->statements.data[section->statements.data[i]]))
        i++;
    return is_text(unit, section, i) ||
           (i < section->statements.count &&
            decode_statement(unit, &unit->statements.data[section->statements.data[i]], true,
                             &decoded));
}

/* Whether S contains only no-operations. Behind a jump they are not executed, and may move. */
static bool is_filling_byte(const struct unit *unit, const struct statement *s) {
    uint8_t code[CODE_MAX];
    size_t count = statement_is(unit, s, ".byte") ? read_bytes(unit, s, code) : 0;
    struct decoded decoded = {0};
    for (size_t at = 0; at < count; at += decoded.size)
        if (!decode_instruction(code + at, count - at, &decoded) || !is_no_operation(&decoded))
            return false;
    return count;
}

/* Whether S is a directive that puts no-operations of a given size. */
static bool puts_filling(const struct unit *unit, const struct statement *s) {
    return statement_is(unit, s, ".nops") || statement_is(unit, s, ".nop");
}

/* What the statements before a position show about it. */
struct sight {
    bool comes;         /* control arrives here */
    bool begins;        /* a function begins */
    bool listed;        /* a table or an instruction contains the address of a label */
    bool named, behind; /* a label is here; the instruction before does not continue here */
    bool called;        /* ... which is a call */
    bool known;         /* a label here may be known elsewhere */
};

static void see_label(const struct symbol *symbol, bool referred, struct sight *sight) {
    sight->comes |= symbol->branch_target;
    sight->begins |= symbol->function;
    sight->listed |= referred;
    sight->known |= referred || symbol->global || symbol->aliased || symbol->function;
    sight->named = true;
}

static void look_through(struct unit *unit, const struct section *section, bool stores,
                         const bool *referred) {
    struct sight at = {0};
    for (size_t i = 0; i < section->statements.count; i++) {
        struct statement *s = &unit->statements.data[section->statements.data[i]];
        struct decoded decoded;
        if (s->kind == STATEMENT_LABEL) {
            see_label(&unit->symbols.data[s->symbol], referred[s->symbol], &at);
            continue;
        }
        if (s->data && !at.known && puts_filling(unit, s)) {
            s->data = false;
            s->aligns = true;
        }
        if (is_nothing(s) || s->aligns)
            continue;
        bool leads = at.comes || (at.listed && is_text(unit, section, i + 1)) ||
                     ((at.called || at.begins) && looks_like_code(unit, section, i));
        bool coded = s->data && (leads || at.begins) &&
                     decode_statement(unit, s, stores, &decoded) &&
                     (leads || is_landing_mark(&decoded));
        bool filling = s->data && !coded && at.behind && !at.named && is_filling_byte(unit, s);
        if (coded) {
            s->kind = STATEMENT_INSTRUCTION;
            s->data = false;
            at.comes = decoded.class == CLASS_PLAIN;
            at.behind = !at.comes;
        } else if (s->data && (at.comes || at.begins || at.listed) && stores &&
                   is_prefix(unit, s) && leads_to_text(unit, section, i)) {
            s->kind = STATEMENT_INSTRUCTION;
            s->data = false;
            s->prefix = true;
            at.comes = !is_text(unit, section, i + 1); /* the next instruction is in bytes */
            at.behind = false;
        } else if (filling) {
            s->data = false;
            s->aligns = true;
            at.comes = false;
        } else {
            at.comes = s->kind == STATEMENT_INSTRUCTION && goes_on(unit, s);
            at.behind = s->kind == STATEMENT_INSTRUCTION && !s->opaque && !s->prefix && !at.comes;
        }
        at.called = at.behind && strncasecmp(unit->text + s->start, "call", strlen("call")) == 0;
        at.begins = at.listed = at.named = at.known = false;
    }
}

void find_coded_instructions(struct unit *unit, bool stores) {
    bool *referred = ARENA_ARRAY(&unit->arena, bool, unit->symbols.count);
    for (size_t i = 0; i < unit->references.count; i++)
        referred[unit->references.data[i].symbol] = true;
    for (size_t i = 0; i < unit->sections.count; i++)
        if (unit->sections.data[i].executable && !unit->sections.data[i].subsections)
            look_through(unit, &unit->sections.data[i], stores, referred);
}
