/* macros.c: the assembler's macros and conditionals; see macros.h.
 *
 * Neither is expanded. So a function with a macro's name or a condition has unknown content. But
 * the definition of a macro outputs nothing. systemtap's probes (sys/sdt.h) have definitions in the
 * middle of functions:
 *
 *     .macro size x                         990: nop
 *     .ascii "\x"                           .pushsection .note.stapsdt, "", "note"
 *     .endm                                 size 8
 *     .ifndef base                          .popsection
 *     .pushsection .base; base: .space 1; .popsection
 *     .endif
 *
 * So the text of a macro is one statement, and a macro that contains only data is data. A
 * conditional is ignored if its content is in other sections without code, and its condition does
 * not depend on distances.
 *
 * Capital and small letters in a macro's name are the same to the assembler. */
#include "asm/macros.h"

#include <string.h>
#include <strings.h>

enum {
    NAME_MAX_LENGTH = 128
};

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           (c && strchr("_.$", c));
}

/* Writes the macro's name that WORD begins with into NAME, in small letters. Returns its length. */
static size_t read_name(struct span word, char *name) {
    size_t length = 0;
    for (; length < word.length && length < NAME_MAX_LENGTH; length++) {
        char c = word.start[length];
        name[length] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
        if (!is_name(name[length]))
            break;
    }
    return length;
}

enum macro_kind find_macro(const struct macros *macros, struct span word) {
    char name[NAME_MAX_LENGTH];
    const uint32_t *found = map_find(&macros->names, name, read_name(word, name));
    return found ? (enum macro_kind) * found : MACRO_NONE;
}

/* Returns what a statement of a macro outputs. */
static enum macro_kind kind_of(const struct macros *macros, struct span text) {
    static const char *const words[] = {
        ".ascii", ".asciz", ".string", ".byte", ".2byte", ".4byte", ".8byte",  ".short",
        ".word",  ".value", ".long",   ".int",  ".quad",  ".skip",  ".else",   ".elseif",
        ".endif", ".if",    ".ifc",    ".ifnc", ".ifeq",  ".ifne",  ".ifdef",  ".ifndef",
        ".iflt",  ".ifle",  ".ifgt",   ".ifge", ".ifb",   ".ifnb",  ".balign", ".p2align",
    };
    struct span word = first_word(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (span_is(word, words[i]))
            return MACRO_DATA;
    enum macro_kind known = find_macro(macros, word);
    return known != MACRO_NONE ? known : word.start[0] == '.' ? MACRO_WORDS : MACRO_CODE;
}

static bool is_word(struct span word, const char *text) {
    return word.length == strlen(text) && strncasecmp(word.start, text, word.length) == 0;
}

bool read_macro(struct macros *macros, struct arena *arena, struct span arguments,
                struct lexer *lexer) {
    char name[NAME_MAX_LENGTH];
    size_t length = read_name(arguments, name);
    struct token token = {0};
    enum macro_kind kind = MACRO_DATA;
    unsigned depth = 1;
    while (depth && next_token(lexer, &token)) {
        struct span word = first_word(token.text);
        bool ends = !token.label && depth == 1 && is_word(word, ".endm");
        enum macro_kind one = token.label ? MACRO_CODE : kind_of(macros, token.text);
        if (!token.marker && !ends && one > kind)
            kind = one;
        if (token.label || token.marker)
            continue;
        depth += is_word(word, ".macro");
        depth -= is_word(word, ".endm");
    }
    if (depth)
        kind = MACRO_CODE;
    uint32_t *known = map_add(arena, &macros->names, arena_copy(arena, name, length), length, kind);
    if (*known < kind) /* it has several definitions */
        *known = kind;
    return !depth;
}

/* Whether everything from the conditional to here is known, and none of it is in a section of code.
 */
static bool is_without_code(const struct unit *unit, const struct conditional *conditional) {
    for (size_t i = conditional->statement + 1; i < unit->statements.count; i++) {
        const struct statement *s = &unit->statements.data[i];
        struct span text = {unit->text + s->start, s->end - s->start};
        bool code = unit->sections.data[s->section].executable && !span_starts(text, ".else");
        if (code || s->opaque)
            return false;
    }
    return true;
}

void read_conditional(struct unit *unit, struct macros *macros, struct span word, uint32_t section,
                      unsigned section_depth) {
    if (span_starts(word, ".if") && macros->depth++ < CONDITIONAL_MAX) {
        bool executable = unit->sections.data[section].executable;
        macros->conditionals[macros->depth - 1] = (struct conditional){
            .statement = (uint32_t)unit->statements.count,
            .section = section,
            .section_depth = section_depth,
            .defined = executable && (span_is(word, ".ifdef") || span_is(word, ".ifndef")),
            .had_macros = unit->has_macros,
        };
        return;
    }
    bool closes = span_is(word, ".endif");
    if (!(closes || span_starts(word, ".else")) || !macros->depth)
        return;
    macros->depth -= closes;
    unsigned present = closes ? macros->depth : macros->depth - 1;
    if (present >= CONDITIONAL_MAX)
        return;
    struct conditional *c = &macros->conditionals[present];
    c->defined &= c->section == section && c->section_depth == section_depth;
    if (closes && c->defined && is_without_code(unit, c)) {
        unit->statements.data[c->statement].opaque = false;
        unit->has_macros = c->had_macros;
    }
}
