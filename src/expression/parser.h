/* parser.h: what the parts of the reader of expressions share: expression.c, the grammar;
 * subscript.c; literal.c; variable_name.c. */
#ifndef QUIPU_EXPRESSION_PARSER_H
#define QUIPU_EXPRESSION_PARSER_H

#include "expression/expression.h"

struct parser {
    const struct variables *variables;
    struct tree tree;
    const char *at; /* what is read next, in the tree's text */
    unsigned depth;
    bool may_slice;
    struct node *slice; /* its first element; NULL: there is none */
    uint64_t count;     /* of its elements */
    int64_t first;      /* as in struct object */
    size_t base, base_end;
    const char *others;
    bool is_described; /* an element was taken by an array's descriptor */
    bool is_missing;   /* what is refused is a name that nothing has ... */
    bool is_local;     /* ... or that a local has, without its function's */
};

/* Ends the reading with what is WRONG, a text that lives as long as the tree, at AT, unless it has
 * ended so before.  Returns NULL. */
struct node *refuse(struct parser *parser, const char *at, const char *wrong);

void skip_blanks(struct parser *parser);

/* Skips blanks, and TEXT, if it stands there. */
bool take(struct parser *parser, const char *text);

/* What is read next, from the text's begin. */
size_t place(const struct parser *parser);

/* NODE, or NULL, is what stands from BEGIN up to here. */
struct node *spans(const struct parser *parser, size_t begin, struct node *node);

/* An expression.  Returns NULL where the tree has its error. */
struct node *parse_condition(struct parser *parser);

/* ---- subscript.c ---- */

/* What stands between the bracket that opens and CLOSE: an element of ARRAY, or a slice, of which
 * the first element is returned.  NULL where the tree has its error. */
struct node *parse_subscripts(struct parser *parser, struct node *array, char close);

/* ---- literal.c ---- */

/* What begins here with a digit, or a point and a digit.  Returns NULL where the tree has its
 * error. */
struct node *parse_number(struct parser *parser);

/* The same of what begins with a single quote. */
struct node *parse_character(struct parser *parser);

/* ---- variable_name.c ---- */

bool begins_name(char c);

/* How long the plain name is that TEXT begins with; 0: it begins with none. */
size_t name_length(const char *text);

/* Whether the name of a variable stands there, with what is around it. */
bool begins_variable(const char *text);

/* How long the name of a member is, with its class in front or without; 0: there is none. */
size_t member_length(const char *text);

/* FILE: in front of a name.  Returns NULL, with nothing taken, where there is none. */
const char *parse_file(struct parser *parser);

/* The shared object's name in front of a name.  Returns whether there is one. */
bool parse_module(struct parser *parser);

/* A variable, or a word such as "true", with what stands in front of its name.  Returns NULL where
 * the tree has its error. */
struct node *parse_variable(struct parser *parser);

#endif
