/* literal.c: constant strings in a unit's text; see literal.h.
 *
 * A string is a label and the directives directly behind it, in one section. gcc writes a long
 * string in parts, and one with NULs in it, too. Any other statement may output bytes, so it ends
 * the string.
 *
 * requires: parse_unit */
#include "asm/literal.h"

#include "asm/lex.h"

#include <string.h>

struct literal {
    char *text;
    size_t size, count;
    bool ended; /* its NUL is read */
};

static bool is_read_only(const struct section *section) {
    static const char name[] = ".rodata";
    size_t length = sizeof name - 1;
    if (section->subsections || strncmp(section->name, name, length) != 0 ||
        (section->name[length] && section->name[length] != '.'))
        return false;
    struct span line = {section->directive, strlen(section->directive)};
    struct cursor cursor = cursor_over(behind(line, first_word(line)));
    next_argument(&cursor);
    struct span flags = next_argument(&cursor);
    return !flags.length || !memchr(flags.start, 'w', flags.length);
}

static bool append(struct literal *literal, char c) {
    if (literal->count == literal->size)
        return false;
    literal->text[literal->count++] = c;
    literal->ended = !c;
    return true;
}

/* Reads an escape, from behind its backslash, and sets *C to the character. Returns the end of the
 * escape. Returns NULL if compilers write no such escape. */
static const char *read_escape(const char *at, const char *end, char *c) {
    static const char letters[] = "bfnrt\\\"", meant[] = "\b\f\n\r\t\\\"";
    const char *letter = at < end && *at ? strchr(letters, *at) : NULL;
    if (letter) {
        *c = meant[letter - letters];
        return at + 1;
    }
    const char *start = at;
    unsigned number = 0;
    while (at < end && at - start < 3 && *at >= '0' && *at <= '7')
        number = number * 8 + (unsigned)(*at++ - '0');
    *c = (char)number;
    bool goes_on = at < end && (*at == '8' || *at == '9'); /* the assembler accepts these digits,
                                                              too */
    return at == start || (goes_on && at - start < 3) ? NULL : at;
}

/* Appends the string in quotes ARGUMENTS, up to its first NUL. Returns false if it is anything
 * else, or too long. */
static bool append_quoted(struct literal *literal, struct span arguments) {
    const char *at = arguments.start + 1, *end = arguments.start + arguments.length - 1;
    if (arguments.length < 2 || arguments.start[0] != '"' || *end != '"')
        return false;
    while (at < end && !literal->ended) {
        char c = *at++;
        if (c == '"') /* there are several strings */
            return false;
        if (c == '\\')
            at = read_escape(at, end, &c);
        if (!at || !append(literal, c))
            return false;
    }
    return true;
}

static bool append_directive(struct literal *literal, const struct unit *unit,
                             const struct statement *s) {
    struct span text = {unit->text + s->start, s->end - s->start};
    struct span word = first_word(text);
    bool has_nul = span_is(word, ".string") || span_is(word, ".asciz");
    return (has_nul || span_is(word, ".ascii")) && append_quoted(literal, behind(text, word)) &&
           (literal->ended || !has_nul || append(literal, '\0'));
}

bool read_literal(const struct unit *unit, const struct symbol *symbol, char *text, size_t size) {
    struct literal literal = {.size = size};
    literal.text = text;
    if (symbol->statement == NONE || symbol->global || symbol->weak || unit->has_macros)
        return false;
    uint32_t section = unit->statements.data[symbol->statement].section;
    if (!is_read_only(&unit->sections.data[section]))
        return false;
    for (uint32_t i = symbol->statement; i < unit->statements.count && !literal.ended; i++) {
        const struct statement *s = &unit->statements.data[i];
        if (s->section != section ||
            (s->kind != STATEMENT_LABEL && !append_directive(&literal, unit, s)))
            return false;
    }
    return literal.ended;
}
