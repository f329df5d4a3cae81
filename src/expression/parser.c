/* parser.c: the parser's position in the text, and its error; see parser.h. */
#include "expression/parser.h"

#include <ctype.h>
#include <string.h>

struct node *refuse(struct parser *parser, const char *at, const char *wrong) {
    if (!parser->tree.wrong) {
        parser->tree.wrong = wrong;
        parser->tree.where = (size_t)(at - parser->tree.text);
    }
    return NULL;
}

void skip_blanks(struct parser *parser) {
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

size_t place(const struct parser *parser) {
    return (size_t)(parser->at - parser->tree.text);
}

struct node *spans(const struct parser *parser, size_t begin, struct node *node) {
    if (node) {
        node->begin = begin;
        node->end = place(parser);
    }
    return node;
}

bool take(struct parser *parser, const char *text) {
    skip_blanks(parser);
    if (strncmp(parser->at, text, strlen(text)) != 0)
        return false;
    parser->at += strlen(text);
    return true;
}
