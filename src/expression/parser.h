/* parser.h: what the parts of the parser share: expression.c (the grammar), subscript.c, literal.c
 * and variable_name.c. */
#ifndef QUIPU_EXPRESSION_PARSER_H
#define QUIPU_EXPRESSION_PARSER_H

#include "expression/expression.h"

struct parser {
    const struct variables *variables;
    struct tree tree;
    const char *at; /* what is read next, in the tree's text */
    unsigned depth;
    bool may_slice;
    struct node *slice; /* first element of the slice; NULL: there is none */
    uint64_t count;     /* number of the slice's elements */
    int64_t first;      /* as in struct object */
    size_t base, base_end;
    const char *others;
    bool is_described; /* an element was found through an array's descriptor */
    bool is_missing;   /* as in struct object */
    bool is_local;     /* as in struct object */
};

/* Sets the tree's error to WRONG, at AT, unless there is one already. WRONG must live as long as
 * the tree. Returns NULL. */
struct node *refuse(struct parser *parser, const char *at, const char *wrong);

void skip_blanks(struct parser *parser);

/* Skips blanks. If TEXT follows, skips it and returns true. */
bool take(struct parser *parser, const char *text);

/* Returns the position in the text of what is read next. */
size_t place(const struct parser *parser);

/* Sets the position of NODE, which may be NULL, to the text from BEGIN to here. Returns NODE. */
struct node *spans(const struct parser *parser, size_t begin, struct node *node);

/* Reads an expression. Returns NULL if the tree has an error. */
struct node *parse_condition(struct parser *parser);

/* ---- subscript.c ---- */

/* Reads indices of ARRAY, up to the bracket CLOSE. The opening bracket is read already. Returns the
 * element, or the first element of a slice. Returns NULL if the tree has an error. */
struct node *parse_subscripts(struct parser *parser, struct node *array, char close);

/* ---- literal.c ---- */

/* Reads a number that begins with a digit, or with a point and a digit. Returns NULL if the tree
 * has an error. */
struct node *parse_number(struct parser *parser);

/* Reads a character that begins with a single quote. Returns NULL if the tree has an error. */
struct node *parse_character(struct parser *parser);

/* ---- variable_name.c ---- */

bool begins_name(char c);

/* Returns the length of the name, without scopes, with which TEXT begins; 0 if there is none. */
size_t name_length(const char *text);

/* Whether TEXT begins with a character of a name, or with "(anonymous namespace)::". */
bool begins_variable(const char *text);

/* Returns the length of a member's name, with or without its class; 0 if there is none. */
size_t member_length(const char *text);

/* Reads "FILE:" before a name. Returns FILE. If it is not there, returns NULL and reads nothing. */
const char *parse_file(struct parser *parser);

/* Reads the shared object's name and ':' before a name. Returns whether they are there. */
bool parse_module(struct parser *parser);

/* Reads a variable with its file and scopes, or a word such as "true". Returns NULL if the tree has
 * an error. */
struct node *parse_variable(struct parser *parser);

#endif
