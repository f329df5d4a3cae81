/* literal.c: numbers and characters in expressions: ISO C 2011, 6.4.4. The prefix 0b begins a
 * binary number. */
#include "expression/parser.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct node *parse_real(struct parser *parser) {
    char *end;
    uint64_t size = 8;
    long double real = strtold(parser->at, &end);
    if (*end == 'f' || *end == 'F')
        size = 4;
    else if (*end == 'l' || *end == 'L')
        size = 16;
    parser->at = end + (size != 8);
    if (size == 4)
        real = (float)real;
    else if (size == 8)
        real = (double)real;
    return make_real(&parser->tree, real, size);
}

/* Returns a node of the first type that NUMBER fits into: 6.4.4.1. */
static struct node *typed_integer(struct parser *parser, uint64_t number, bool is_decimal,
                                  bool is_unsigned, bool is_long) {
    if (!is_long && !is_unsigned && number <= INT32_MAX)
        return make_number(&parser->tree, number, 4, true);
    if (!is_long && (is_unsigned || !is_decimal) && number <= UINT32_MAX)
        return make_number(&parser->tree, number, 4, false);
    return make_number(&parser->tree, number, 8, !is_unsigned && number <= INT64_MAX);
}

static bool is_real(const char *text) {
    bool hexadecimal = text[0] == '0' && (text[1] | 32) == 'x';
    text += hexadecimal ? 2 : 0;
    while (hexadecimal ? isxdigit((unsigned char)*text) : isdigit((unsigned char)*text))
        text++;
    if (text[0] == '.' && text[1] == '.') /* the number is the begin of a slice */
        return false;
    return *text == '.' || (*text | 32) == (hexadecimal ? 'p' : 'e');
}

struct node *parse_number(struct parser *parser) {
    const char *begin = parser->at;
    bool is_unsigned = false, is_long = false;
    char *end;
    if (is_real(begin))
        return parse_real(parser);
    bool binary = begin[0] == '0' && (begin[1] | 32) == 'b';
    if (binary && begin[2] != '0' && begin[2] != '1') /* strtoull takes signs and blanks */
        return refuse(parser, begin + 2, "that is no digit of the number");
    errno = 0;
    uint64_t number = strtoull(begin + (binary ? 2 : 0), &end, binary ? 2 : 0);
    if (errno)
        return refuse(parser, begin, "the number is greater than any integer");
    for (; *end && strchr("uUlL", *end); end++) {
        is_unsigned |= (*end | 32) == 'u';
        is_long |= (*end | 32) == 'l';
    }
    if (isalnum((unsigned char)*end) || *end == '_')
        return refuse(parser, end, "that is no digit of the number");
    parser->at = end;
    return typed_integer(parser, number, *begin != '0', is_unsigned, is_long);
}

/* Reads the text behind a backslash. Returns the character, or -1 if it is not valid. */
static int parse_escape(struct parser *parser) {
    static const char letters[] = "abfnrtv\\'\"?", values[] = "\a\b\f\n\r\t\v\\'\"?";
    char *end;
    if (*parser->at == 'x' && isxdigit((unsigned char)parser->at[1])) {
        unsigned long value = strtoul(parser->at + 1, &end, 16);
        parser->at = end;
        return value > UINT8_MAX ? -1 : (int)value;
    }
    if (*parser->at >= '0' && *parser->at <= '7') {
        int value = 0;
        for (int i = 0; i < 3 && *parser->at >= '0' && *parser->at <= '7'; i++)
            value = 8 * value + *parser->at++ - '0';
        return value;
    }
    const char *letter = *parser->at ? strchr(letters, *parser->at) : NULL;
    if (!letter)
        return -1;
    parser->at++;
    return values[letter - letters];
}

struct node *parse_character(struct parser *parser) {
    const char *begin = parser->at++;
    int value = -1;
    if (*parser->at == '\\') {
        parser->at++;
        value = parse_escape(parser);
    } else if (*parser->at && *parser->at != '\'') {
        value = (unsigned char)*parser->at++;
    }
    if (value < 0 || value > UINT8_MAX || *parser->at != '\'')
        return refuse(parser, begin, "that is no character");
    parser->at++;
    return make_number(&parser->tree, (uint64_t)(int64_t)(int8_t)value, 4, true);
}
