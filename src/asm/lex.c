/* lex.c: splits assembly text into tokens; see lex.h.
 *
 * The rules are those of the GNU assembler for x86 on Linux. A statement ends at a newline or ';'.
 * '#' begins a comment anywhere, '/' begins one at the start of a line. C comments are blanks. */
#include "asm/lex.h"

#include <string.h>

struct lexer lexer_over(const char *text, size_t size) {
    return (struct lexer){
        .begin = text, .next = text, .end = text + size, .line = 1, .at_line_start = true};
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_name(char c) {
    return is_name_start(c) || is_digit(c);
}

bool is_numeric_label(struct span name) {
    size_t digits = 0;
    while (digits < name.length && is_digit(name.start[digits]))
        digits++;
    return digits && digits + 1 == name.length &&
           (name.start[digits] == 'b' || name.start[digits] == 'f');
}

/* Returns the end of the string that begins with the '"' at C. */
static const char *skip_string(const char *c, const char *end) {
    for (c++; c < end && *c != '"'; c++) {
        if (*c == '\n')
            return c;
        if (*c == '\\' && c + 1 < end)
            c++;
    }
    return c < end ? c + 1 : end;
}

static const char *skip_line(const char *c, const char *end) {
    const char *newline = memchr(c, '\n', (size_t)(end - c));
    return newline ? newline : end;
}

/* Returns the end of the C comment that begins at C. Counts the lines in it. */
static const char *skip_comment(struct lexer *lexer, const char *c) {
    for (c += 2; c < lexer->end; c++) {
        if (*c == '\n')
            lexer->line++;
        if (c[0] == '*' && c + 1 < lexer->end && c[1] == '/')
            return c + 2;
    }
    return lexer->end;
}

static bool is_comment(const struct lexer *lexer, const char *c) {
    return c[0] == '/' && c + 1 < lexer->end && c[1] == '*';
}

/* Whether the text between the '#' at C and END is a line marker: '# 12 "file.S"', then flags of
 * one digit. The assembler knows one only at the begin of a line, or directly behind a ';'. */
static bool places_lines(const struct lexer *lexer, const char *c, const char *end) {
    if (c > lexer->begin && c[-1] != '\n' && c[-1] != ';')
        return false;
    for (c++; c < end && is_blank(*c); c++)
        ;
    const char *digits = c;
    while (c < end && is_digit(*c))
        c++;
    if (c == digits)
        return false;
    while (c < end && is_blank(*c))
        c++;
    if (c == end || *c != '"')
        return false;
    for (c = skip_string(c, end); c < end; c++)
        if (!is_blank(*c) && !is_digit(*c))
            return false;
    return true;
}

/* Reads the marker between the '#' at C and END. Returns false if that is a comment. */
static bool read_marker(const struct lexer *lexer, const char *c, const char *end,
                        struct token *token) {
    bool app = end - c >= 4 && memcmp(c, "#APP", 4) == 0;
    bool no_app = end - c >= 7 && memcmp(c, "#NO_APP", 7) == 0;
    bool apart = end - c >= 8 && memcmp(c, "# 0 \"\" 2", 8) == 0; /* gcc's */
    bool places = places_lines(lexer, c, end);
    *token = (struct token){.text = {c, (size_t)(end - c)},
                            .line = lexer->line,
                            .marker = app || no_app || apart || places,
                            .app = app,
                            .apart = apart,
                            .places = places};
    return token->marker;
}

/* Skips blanks, empty statements and comments. Stops at a marker, too, and sets TOKEN to it.
 * Returns false at the end of the text. */
static bool skip_blanks(struct lexer *lexer, struct token *token) {
    while (lexer->next < lexer->end) {
        const char *c = lexer->next;
        if (*c == '\n') {
            lexer->line++;
            lexer->next++;
            lexer->at_line_start = true;
        } else if (is_blank(*c) || *c == ';') {
            lexer->next++;
        } else if (is_comment(lexer, c)) {
            lexer->next = skip_comment(lexer, c);
        } else if (*c == '#' || (*c == '/' && lexer->at_line_start)) {
            const char *end = skip_line(c, lexer->end);
            lexer->next = end;
            if (read_marker(lexer, c, end, token))
                return true;
        } else {
            return true;
        }
    }
    return false;
}

/* Returns the end of the statement that begins at C: before ';', a newline, or a comment. */
static const char *statement_end(struct lexer *lexer, const char *c) {
    while (c < lexer->end && *c != '\n' && *c != ';' && *c != '#') {
        if (*c == '"')
            c = skip_string(c, lexer->end);
        else if (*c == '\'' && c + 1 < lexer->end && c[1] != '\n')
            c += c[1] == '\\' && c + 2 < lexer->end ? 3 : 2;
        else if (is_comment(lexer, c))
            break;
        else
            c++;
    }
    return c < lexer->end ? c : lexer->end;
}

/* Reads a label, if there is one, and sets NAME. Returns false if there is none. */
static bool find_label(struct lexer *lexer, struct span *name) {
    const char *c = lexer->next, *start = c;
    if (*c == '"') {
        c = skip_string(c, lexer->end);
    } else if (is_digit(*c)) {
        while (c < lexer->end && is_digit(*c))
            c++;
    } else {
        if (!is_name_start(*c))
            return false;
        while (c < lexer->end && is_name(*c))
            c++;
    }
    *name = (struct span){start, (size_t)(c - start)};
    while (c < lexer->end && is_blank(*c))
        c++;
    if (c >= lexer->end || *c != ':')
        return false;
    lexer->next = c + 1;
    return true;
}

bool next_token(struct lexer *lexer, struct token *token) {
    *token = (struct token){0};
    if (!skip_blanks(lexer, token))
        return false;
    if (token->marker)
        return true;
    lexer->at_line_start = false;
    token->line = lexer->line;
    if (find_label(lexer, &token->text)) {
        token->label = true;
        return true;
    }
    const char *start = lexer->next, *end = statement_end(lexer, start);
    lexer->next = end;
    while (end > start && is_blank(end[-1]))
        end--;
    if (end == start) { /* a single character that begins nothing is a token */
        lexer->next = start + 1;
        end = start + 1;
    }
    token->text = (struct span){start, (size_t)(end - start)};
    return true;
}

bool skip_to_section_change(struct lexer *lexer) {
    static const char *const words[] = {".section",  ".text",        ".data",
                                        ".bss",      ".pushsection", ".popsection",
                                        ".previous", ".subsection",  ".ident"};
    for (;;) {
        const char *c = lexer->next;
        while (c < lexer->end && (is_blank(*c) || *c == ';'))
            c++;
        if (c >= lexer->end)
            return false;
        if (*c == '.')
            for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
                size_t length = strlen(words[i]);
                if ((size_t)(lexer->end - c) > length && memcmp(c, words[i], length) == 0 &&
                    !is_name(c[length]))
                    return true;
            }
        if (*c == '#' && lexer->end - c >= 4 && memcmp(c, "#APP", 4) == 0)
            return true;
        c = skip_line(c, lexer->end);
        if (c >= lexer->end)
            return false;
        lexer->next = c + 1;
        lexer->line++;
        lexer->at_line_start = true;
    }
}

bool span_is(struct span span, const char *text) {
    return strlen(text) == span.length && memcmp(span.start, text, span.length) == 0;
}

bool span_starts(struct span span, const char *text) {
    size_t length = strlen(text);
    return span.length >= length && memcmp(span.start, text, length) == 0;
}

bool span_ends(struct span span, const char *text) {
    size_t length = strlen(text);
    return span.length >= length && memcmp(span.start + span.length - length, text, length) == 0;
}

struct span unquoted(struct span span) {
    if (span.length >= 2 && span.start[0] == '"' && span.start[span.length - 1] == '"')
        return (struct span){span.start + 1, span.length - 2};
    return span;
}

struct span first_word(struct span text) {
    size_t length = 0;
    while (length < text.length && !is_blank(text.start[length]))
        length++;
    return (struct span){text.start, length};
}

struct span behind(struct span text, struct span word) {
    const char *end = text.start + text.length, *c = word.start + word.length;
    while (c < end && is_blank(*c))
        c++;
    return (struct span){c, (size_t)(end - c)};
}

struct cursor cursor_over(struct span text) {
    return (struct cursor){text.start, text.start + text.length};
}

struct span next_argument(struct cursor *cursor) {
    const char *c = cursor->next;
    while (c < cursor->end && is_blank(*c))
        c++;
    const char *start = c;
    unsigned depth = 0;
    while (c < cursor->end && (depth || *c != ',')) {
        if (*c == '"') {
            c = skip_string(c, cursor->end);
            continue;
        }
        depth += *c == '(';
        depth -= *c == ')' && depth;
        c++;
    }
    cursor->next = c < cursor->end ? c + 1 : c;
    while (c > start && is_blank(c[-1]))
        c--;
    return (struct span){start, (size_t)(c - start)};
}

bool next_name(struct cursor *cursor, struct span *name) {
    const char *c = cursor->next, *end = cursor->end;
    while (c < end) {
        const char *start = c;
        if (*c == '"') {
            c = cursor->next = skip_string(c, end);
            *name = unquoted((struct span){start, (size_t)(c - start)});
            return true;
        } else if (*c == '%' || *c == '@') { /* register, relocation */
            for (c++; c < end && (is_name(*c) || *c == '('); c++)
                ;
        } else if (*c == '\'') {
            c += c + 1 < end && c[1] == '\\' ? 3 : 2;
        } else if (is_digit(*c)) {
            while (c < end && is_name(*c))
                c++;
            *name = (struct span){start, (size_t)(c - start)};
            cursor->next = c;
            if (is_numeric_label(*name))
                return true;
        } else if (*c == '$') { /* immediate */
            c++;
        } else if (is_name_start(*c)) {
            while (c < end && is_name(*c))
                c++;
            if (c - start > 1 || *start != '.') {
                *name = (struct span){start, (size_t)(c - start)};
                cursor->next = c;
                return true;
            }
        } else {
            c++;
        }
    }
    cursor->next = end;
    return false;
}

bool is_assignment(struct span text) {
    struct span word = first_word(text), rest = behind(text, word);
    return (rest.length && rest.start[0] == '=') || memchr(word.start, '=', word.length);
}

bool names_place(struct span text, struct span *name) {
    static const char *const words[] = {".set", ".equ", ".equiv", ".eqv"};
    struct span word = first_word(text), rest = behind(text, word);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (span_is(word, words[i])) {
            struct cursor cursor = cursor_over(rest);
            *name = unquoted(next_argument(&cursor));
            return name->length && span_is(next_argument(&cursor), ".");
        }
    bool inside = memchr(word.start, '=', word.length);
    if (!inside && (!rest.length || rest.start[0] != '='))
        return false;
    const char *sign = inside ? memchr(word.start, '=', word.length) : rest.start;
    *name = unquoted(first_word((struct span){text.start, (size_t)(sign - text.start)}));
    size_t signs = sign + 1 < text.start + text.length && sign[1] == '=' ? 2 : 1; /* "==": once */
    return name->length && !span_is(*name, ".") &&
           span_is(behind(text, (struct span){sign, signs}), ".");
}
