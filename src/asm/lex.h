/* lex.h: splits assembly text into tokens: labels, statements, and the compiler's marks of inline
 * assembly. */
#ifndef QUIPU_ASM_LEX_H
#define QUIPU_ASM_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of text, not NUL-terminated. */
struct span {
    const char *start;
    size_t length;
};

struct lexer {
    const char *begin, *next, *end;
    uint32_t line;
    bool at_line_start;
};

struct token {
    struct span text; /* label: its name; otherwise a statement without comment and outer blanks */
    uint32_t line;
    bool label;
    bool marker; /* #APP, #NO_APP, or a line marker */
    bool app;    /* a marker that is #APP */
    bool apart;  /* a line marker of gcc's: an inline assembly ends, and another may follow */
    bool places; /* a line marker, '# 12 "file.S" 2': TEXT is all of it */
};

struct lexer lexer_over(const char *text, size_t size);

/* Reads the next token. Returns false at the end. */
bool next_token(struct lexer *lexer, struct token *token);

/* From the start of a line, skips lines that do not change the section and are not .ident or #APP.
 * Returns false at the end of the text. */
bool skip_to_section_change(struct lexer *lexer);

/* Whether NAME refers to the last or the next label of a number: "1b", "12f". */
bool is_numeric_label(struct span name);

bool span_is(struct span span, const char *text);
bool span_starts(struct span span, const char *text);
bool span_ends(struct span span, const char *text);
struct span unquoted(struct span span);

/* Split a statement into its first word, and the text behind that word without blanks. */
struct span first_word(struct span text);
struct span behind(struct span text, struct span word);

/* Reads a statement's operands. */
struct cursor {
    const char *next, *end;
};

struct cursor cursor_over(struct span text);

/* Returns the next argument, up to a comma outside of quotes and parentheses. Returns an empty one
 * at the end. */
struct span next_argument(struct cursor *cursor);

/* Reads the next symbol's name, without its quotes: not a register, number or relocation suffix.
 * "1b" and "1f" are names. Returns false at the end. */
bool next_name(struct cursor *cursor, struct span *name);

/* Whether TEXT, a statement, gives a symbol a value by a sign: "x = 1". */
bool is_assignment(struct span text);

/* Whether TEXT, a statement, is another form of a label: "x = .", ".set x, .". Sets NAME. */
bool names_place(struct span text, struct span *name);

#endif
