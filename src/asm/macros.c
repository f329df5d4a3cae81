/* macros.c: the assembler's macros and conditionals; see macros.h.
 *
 * Neither is expanded.  What stands in a function is not known where a macro's name does, or a
 * condition.  But the definition of a macro puts nothing, and systemtap's probes (sys/sdt.h) have
 * such in the middle of functions:
 *
 *     .macro size x                         990: nop
 *     .ascii "\x"                           .pushsection .note.stapsdt, "", "note"
 *     .endm                                 size 8
 *     .ifndef base                          .popsection
 *     .pushsection .base; base: .space 1; .popsection
 *     .endif
 *
 * So a macro's text is one statement; a macro that has data alone puts data; and a conditional is
 * nothing where all of it is in other sections without code, and the condition knows no distances.
 *
 * The assembler does not tell small letters in a macro's name from capital ones. */
#include "asm/macros.h"

#include <string.h>
#include <strings.h>

enum {
    NAME_MAX_LENGTH = 128,
    PUTS_ANYTHING = 1,
    PUTS_DATA
};

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           (c && strchr("_.$", c));
}

/* Writes the macro's name that WORD begins with, in small letters; returns its length. */
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

bool is_macro(const struct macros *macros, struct span word, bool *data) {
    char name[NAME_MAX_LENGTH];
    const uint32_t *found = map_find(&macros->names, name, read_name(word, name));
    *data = found && *found == PUTS_DATA;
    return found;
}

/* Whether a statement of a macro can put data, and nothing else, into the section where it is. */
static bool puts_data(const struct macros *macros, struct span text) {
    static const char *const words[] = {
        ".ascii", ".asciz", ".string", ".byte", ".2byte", ".4byte", ".8byte",  ".short",
        ".word",  ".value", ".long",   ".int",  ".quad",  ".skip",  ".else",   ".elseif",
        ".endif", ".if",    ".ifc",    ".ifnc", ".ifeq",  ".ifne",  ".ifdef",  ".ifndef",
        ".iflt",  ".ifle",  ".ifgt",   ".ifge", ".ifb",   ".ifnb",  ".balign", ".p2align",
    };
    struct span word = first_word(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (span_is(word, words[i]))
            return true;
    bool data = false;
    return is_macro(macros, word, &data) && data;
}

static bool is_word(struct span word, const char *text) {
    return word.length == strlen(text) && strncasecmp(word.start, text, word.length) == 0;
}

bool read_macro(struct macros *macros, struct arena *arena, struct span arguments,
                struct lexer *lexer) {
    char name[NAME_MAX_LENGTH];
    size_t length = read_name(arguments, name);
    struct token token = {0};
    bool data = true;
    unsigned depth = 1;
    while (depth && next_token(lexer, &token)) {
        struct span word = first_word(token.text);
        data &= token.marker || (depth == 1 && is_word(word, ".endm")) ||
                (!token.label && puts_data(macros, token.text));
        if (token.label || token.marker)
            continue;
        depth += is_word(word, ".macro");
        depth -= is_word(word, ".endm");
    }
    uint32_t *kind = map_add(arena, &macros->names, arena_copy(arena, name, length), length,
                             data && !depth ? PUTS_DATA : PUTS_ANYTHING);
    if (!data || depth)
        *kind = PUTS_ANYTHING;
    return !depth;
}
