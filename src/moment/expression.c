/* expression.c: the grammar of expressions; see expression.h.
 *
 * ISO C 2011, 6.4.4 and 6.5, without calls, assignments and sizeof.  Besides: FILE:NAME and
 * SCOPE::NAME, and, where an object is named, its slice ARRAY[FIRST..LAST].  A file's name is told
 * from the rest by being one: the text in front of a ':' must be a source file of the program. What
 * stands in parentheses is a type where no variable has that name. */
#include "moment/expression.h"

#include "moment/type_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 200 /* of parentheses and operators in one another */
};

struct parser {
    const struct variables *variables;
    struct tree tree;
    const char *at;
    unsigned depth;
    bool may_slice;
    struct node *slice; /* its first element; NULL: there is none */
    uint64_t count;     /* of its elements */
    bool is_missing;    /* what is refused is a name that nothing has ... */
    bool is_local;      /* ... or that a local has, without its function's */
};

static struct node *parse_condition(struct parser *parser);
static struct node *parse_unary(struct parser *parser);

static struct node *refuse(struct parser *parser, const char *at, const char *wrong) {
    if (!parser->tree.wrong) {
        parser->tree.wrong = wrong;
        parser->tree.where = (size_t)(at - parser->tree.text);
    }
    return NULL;
}

static void skip_blanks(struct parser *parser) {
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static size_t place(const struct parser *parser) {
    return (size_t)(parser->at - parser->tree.text);
}

/* NODE, or NULL, is what stands from BEGIN up to here. */
static struct node *spans(const struct parser *parser, size_t begin, struct node *node) {
    if (node) {
        node->begin = begin;
        node->end = place(parser);
    }
    return node;
}

static bool take(struct parser *parser, const char *text) {
    skip_blanks(parser);
    if (strncmp(parser->at, text, strlen(text)) != 0)
        return false;
    parser->at += strlen(text);
    return true;
}

/* ---- numbers and characters ---- */

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

/* The first type that it fits into: 6.4.4.1. */
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
    if (text[0] == '.' && text[1] == '.') /* of a slice */
        return false;
    return *text == '.' || (*text | 32) == (hexadecimal ? 'p' : 'e');
}

static struct node *parse_number(struct parser *parser) {
    const char *begin = parser->at;
    bool is_unsigned = false, is_long = false;
    char *end;
    if (is_real(begin))
        return parse_real(parser);
    bool binary = begin[0] == '0' && (begin[1] | 32) == 'b';
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

/* What is behind a backslash. */
static int parse_escape(struct parser *parser) {
    static const char letters[] = "abfnrtv\\'\"?", values[] = "\a\b\f\n\r\t\v\\'\"?";
    char *end;
    if (*parser->at == 'x' && isxdigit((unsigned char)parser->at[1])) {
        long value = strtol(parser->at + 1, &end, 16);
        parser->at = end;
        return (int)value;
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

static struct node *parse_character(struct parser *parser) {
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

/* ---- names ---- */

static bool begins_name(char c) {
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static size_t name_length(const char *text) {
    size_t length = 0;
    while (begins_name(text[length]) || (length && isdigit((unsigned char)text[length])))
        length++;
    return length;
}

/* FILE: in front of a name.  Returns NULL, with nothing taken, where there is none. */
static const char *parse_file(struct parser *parser) {
    size_t length = 0;
    while (parser->at[length] &&
           (isalnum((unsigned char)parser->at[length]) || strchr("_./+-", parser->at[length])))
        length++;
    const char *colon = parser->at + length;
    if (!length || *colon != ':' || !begins_name(colon[1]) ||
        !is_source(parser->variables, parser->at, length))
        return NULL;
    const char *file = arena_copy(parser->tree.arena, parser->at, length);
    parser->at = colon + 1;
    return file;
}

/* The arguments of a template with their brackets.  In C, 'a < b > ::c' means nothing, so what has
 * '::' and a name behind it is one. */
static size_t arguments_length(const char *text) {
    size_t length = 0, depth = 0;
    do {
        depth += text[length] == '<';
        depth -= text[length] == '>';
        length += text[length] != '\0';
    } while (depth && text[length]);
    bool good = length && !depth && strncmp(text + length, "::", 2) == 0;
    return good && name_length(text + length + 2) ? length : 0;
}

/* The shared object's name in front of a name.  Returns whether there is one. */
static bool parse_module(struct parser *parser) {
    const char *module = parser->variables->module;
    size_t length = module ? strlen(module) : 0;
    if (!length || strncmp(parser->at, module, length) != 0 || parser->at[length] != ':' ||
        parser->at[length + 1] == ':')
        return false;
    parser->at += length + 1;
    return true;
}

static const char *parse_name(struct parser *parser) {
    size_t length = name_length(parser->at);
    for (;;) { /* a::b, a<int>::b */
        length += parser->at[length] == '<' ? arguments_length(parser->at + length) : 0;
        const char *more = parser->at + length;
        size_t next = strncmp(more, "::", 2) == 0 ? name_length(more + 2) : 0;
        if (!next)
            break;
        length += 2 + next;
    }
    const char *name = arena_copy(parser->tree.arena, parser->at, length);
    parser->at += length;
    return name;
}

static struct node *known_word(struct parser *parser, const char *name) {
    static const struct {
        const char *name;
        uint64_t value, size;
    } words[] = {{"true", 1, 4}, {"false", 0, 4}, {"NULL", 0, 8}, {"nullptr", 0, 8}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0)
            return make_number(&parser->tree, words[i].value, words[i].size, true);
    return NULL;
}

static struct node *parse_variable(struct parser *parser) {
    const char *begin = parser->at;
    parse_module(parser);
    const char *file = parse_file(parser), *name = parse_name(parser);
    const struct variable *variable = NULL;
    const char *wrong = find_variable(parser->variables, file, name, &variable);
    if (wrong) {
        struct node *word = file ? NULL : known_word(parser, name);
        skip_blanks(parser);
        if (!word && *parser->at == '(')
            wrong = "functions cannot be called: the program stands still";
        parser->is_missing |= !variable && !parser->tree.wrong;
        parser->is_local |= variable && variable->is_local && !strstr(name, "::");
        return word ? word : refuse(parser, begin, wrong);
    }
    if (variable->is_constant)
        return make_number(&parser->tree, (uint64_t)variable->value,
                           variable->value == (int32_t)variable->value ? 4 : 8, true);
    return make_object(&parser->tree, variable->address, &variable->type);
}

/* ---- the grammar, from the inside out.  Each returns NULL where the tree has its error. ---- */

static struct node *parse_primary(struct parser *parser) {
    skip_blanks(parser);
    size_t begin = place(parser);
    const char *at = parser->at;
    struct node *node;
    if (*at == '(') {
        parser->at++;
        node = parse_condition(parser);
        if (node && !take(parser, ")"))
            return refuse(parser, parser->at, "')' is missing here");
        return spans(parser, begin, node);
    }
    if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])))
        node = parse_number(parser);
    else if (*at == '\'')
        node = parse_character(parser);
    else if (begins_name(*at) || parse_module(parser) || parse_file(parser)) {
        parser->at = at;
        node = parse_variable(parser);
    } else {
        return refuse(parser, at,
                      *at ? "a variable, a number or '(' must stand here"
                          : "the expression ends where a variable or a number must follow");
    }
    return spans(parser, begin, node);
}

static struct node *parse_member(struct parser *parser, struct node *record, bool points) {
    skip_blanks(parser);
    size_t where = place(parser), length = name_length(parser->at);
    if (!length)
        return refuse(parser, parser->at, "the name of a member must stand here");
    const char *name = arena_copy(parser->tree.arena, parser->at, length);
    parser->at += length;
    if (points) {
        size_t begin = record->begin, end = record->end;
        record = make_target(&parser->tree, record);
        if (!record)
            return NULL;
        record->begin = begin;
        record->end = end;
    }
    return make_field(&parser->tree, record, name, where);
}

/* How many elements ARRAY has; 0: that is not known. */
static uint64_t element_count(struct parser *parser, const struct node *array) {
    if (array->type.kind != TYPE_ARRAY)
        return 0;
    uint64_t size = target_of(parser->tree.binary, &array->type).size;
    return size ? array->type.size / size : 0;
}

/* The last index of a slice of ARRAY that begins with FIRST. */
static bool parse_last(struct parser *parser, const struct node *array, const struct node *first) {
    skip_blanks(parser);
    const char *at = parser->at;
    const struct node *last = parse_condition(parser);
    uint64_t elements = element_count(parser, array);
    if (!last)
        return false;
    const char *wrong = NULL;
    if (first->kind != NODE_NUMBER || last->kind != NODE_NUMBER ||
        first->type.kind != TYPE_INTEGER || last->type.kind != TYPE_INTEGER)
        wrong = "the first and last index of a slice must be numbers";
    else if (last->number < first->number)
        wrong = "the last index is less than the first";
    else if (elements && last->number >= elements)
        wrong = arena_print(parser->tree.arena, "there are %llu elements; the last index is %llu",
                            (unsigned long long)elements, (unsigned long long)elements - 1);
    if (wrong)
        return refuse(parser, at, wrong);
    parser->count = last->number - first->number + 1;
    return true;
}

static struct node *parse_element(struct parser *parser, struct node *array) {
    struct node *index = parse_condition(parser);
    if (!index)
        return NULL;
    bool slices = parser->may_slice && !parser->slice && take(parser, "..");
    if (slices && !parse_last(parser, array, index))
        return NULL;
    if (!take(parser, "]"))
        return refuse(parser, parser->at, "']' is missing here");
    size_t begin = array->begin;
    struct node *place_of_it = make_binary(&parser->tree, OPERATION_ADD, array, index);
    if (!spans(parser, begin, place_of_it))
        return NULL;
    struct node *element = make_target(&parser->tree, place_of_it);
    parser->slice = slices ? element : parser->slice;
    return element;
}

static struct node *parse_postfix(struct parser *parser) {
    struct node *node = parse_primary(parser);
    while (node) {
        size_t begin = node->begin;
        if (take(parser, "++") || take(parser, "--"))
            return refuse(parser, parser->at - 2, "nothing can be changed");
        if (take(parser, "["))
            node = parse_element(parser, node);
        else if (take(parser, "->"))
            node = parse_member(parser, node, true);
        else if (strncmp(parser->at, "..", 2) != 0 && take(parser, "."))
            node = parse_member(parser, node, false);
        else
            break;
        spans(parser, begin, node);
    }
    return node;
}

static struct node *apply_unary(struct parser *parser, char sign, struct node *operand) {
    switch (sign) {
    case '*':
        return make_target(&parser->tree, operand);
    case '&':
        return make_address(&parser->tree, operand);
    case '!':
        return make_unary(&parser->tree, OPERATION_NOT, operand);
    case '~':
        return make_unary(&parser->tree, OPERATION_COMPLEMENT, operand);
    case '-':
        return make_unary(&parser->tree, OPERATION_NEGATE, operand);
    default: /* +: the same value, and no object */
        return make_binary(&parser->tree, OPERATION_ADD, operand,
                           make_number(&parser->tree, 0, 4, true));
    }
}

/* Whether a name in parentheses, in front of END, is that of a type: no variable has it.  KNOWN:
 * there is such a type. */
static bool names_type(const struct parser *parser, const char *name, const char *end, bool known) {
    const struct variable *variable = NULL;
    size_t length = (size_t)(end - name);
    if (begins_type_name(name))
        return true;
    bool points = false;
    for (; length && strchr(" *", name[length - 1]); length--)
        points |= name[length - 1] == '*';
    find_variable(parser->variables, NULL, arena_copy(parser->tree.arena, name, length), &variable);
    return !variable && (known || points);
}

/* (TYPE) OPERAND.  Returns false, with nothing taken, where that stands not here. */
static bool parse_cast(struct parser *parser, struct node **node) {
    const char *begin = parser->at, *wrong = NULL;
    struct type type;
    *node = NULL;
    if (!take(parser, "("))
        return false;
    skip_blanks(parser);
    const char *name = parser->at;
    size_t length = begins_name(*name) ? read_type_name(parser->tree.arena, parser->tree.binary,
                                                        name, &type, &wrong)
                                       : 0;
    const char *end = name + length;
    while (isspace((unsigned char)*end))
        end++;
    if (!length || *end != ')' || !names_type(parser, name, end, !wrong)) {
        parser->at = begin;
        return false;
    }
    if (wrong) {
        parser->is_missing |= !parser->tree.wrong;
        refuse(parser, name, wrong);
        return true;
    }
    parser->at = end + 1;
    if (++parser->depth > DEPTH_MAX) {
        refuse(parser, parser->at, "too much is in one another here");
        return true;
    }
    struct node *operand = parse_unary(parser);
    parser->depth--;
    *node = operand ? make_cast(&parser->tree, &type, operand) : NULL;
    return true;
}

static struct node *parse_unary(struct parser *parser) {
    struct node *cast;
    skip_blanks(parser);
    size_t begin = place(parser);
    char sign = *parser->at;
    if (parse_cast(parser, &cast))
        return spans(parser, begin, cast);
    if (!sign || !strchr("*&!~-+", sign))
        return parse_postfix(parser);
    if (sign == parser->at[1] && strchr("+-&", sign))
        return refuse(parser, parser->at, "nothing can be changed, and nothing stands in front");
    if (++parser->depth > DEPTH_MAX)
        return refuse(parser, parser->at, "too much is in one another here");
    parser->at++;
    struct node *operand = parse_unary(parser);
    parser->depth--;
    return operand ? spans(parser, begin, apply_unary(parser, sign, operand)) : NULL;
}

/* Longer ones first.  What begins like one of these and ends in '=' assigns. */
static const struct binary_operator {
    const char *text;
    uint8_t precedence, operation;
} operators[] = {
    {"||", 1, OPERATION_EITHER},     {"&&", 2, OPERATION_BOTH},
    {"==", 6, OPERATION_EQUAL},      {"!=", 6, OPERATION_DIFFERENT},
    {"<<", 8, OPERATION_SHIFT_LEFT}, {">>", 8, OPERATION_SHIFT_RIGHT},
    {"<=", 7, OPERATION_AT_MOST},    {">=", 7, OPERATION_AT_LEAST},
    {"<", 7, OPERATION_LESS},        {">", 7, OPERATION_GREATER},
    {"|", 3, OPERATION_OR},          {"^", 4, OPERATION_EXCLUSIVE},
    {"&", 5, OPERATION_AND},         {"+", 9, OPERATION_ADD},
    {"-", 9, OPERATION_SUBTRACT},    {"*", 10, OPERATION_MULTIPLY},
    {"/", 10, OPERATION_DIVIDE},     {"%", 10, OPERATION_REMAINDER},
};

static const struct binary_operator *find_operator(const char *text) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strncmp(text, operators[i].text, strlen(operators[i].text)) == 0)
            return &operators[i];
    return NULL;
}

/* Operators that bind at least as PRECEDENCE says. */
static struct node *parse_binary(struct parser *parser, unsigned precedence) {
    struct node *left = parse_unary(parser);
    while (left) {
        skip_blanks(parser);
        const struct binary_operator *found = find_operator(parser->at);
        if (!found || found->precedence < precedence)
            break;
        parser->at += strlen(found->text);
        if (*parser->at == '=')
            return refuse(parser, parser->at, "nothing can be changed");
        size_t begin = left->begin;
        struct node *right = parse_binary(parser, found->precedence + 1u);
        if (!right)
            return NULL;
        left = spans(parser, begin, make_binary(&parser->tree, found->operation, left, right));
    }
    return left;
}

static struct node *parse_condition(struct parser *parser) {
    if (++parser->depth > DEPTH_MAX)
        return refuse(parser, parser->at, "too much is in one another here");
    struct node *condition = parse_binary(parser, 1);
    parser->depth--;
    if (!condition || !take(parser, "?"))
        return condition;
    size_t begin = condition->begin;
    struct node *yes = parse_condition(parser);
    if (!yes)
        return NULL;
    if (!take(parser, ":"))
        return refuse(parser, parser->at, "':' is missing here");
    struct node *no = parse_condition(parser);
    return no ? spans(parser, begin, make_condition(&parser->tree, condition, yes, no)) : NULL;
}

/* ---- the whole ---- */

static bool has_value(const struct node *node) {
    return node->type.kind == TYPE_INTEGER || node->type.kind == TYPE_FLOATING ||
           node->type.kind == TYPE_POINTER;
}

/* Finds the objects whose contents are read, from the left.  WHOLE: the value of NODE is, and not
 * only its address. */
static void find_objects(struct arena *arena, struct expression *expression, struct node *node,
                         bool whole) {
    if (!node)
        return;
    bool only_address = node->kind == NODE_ADDRESS || node->kind == NODE_FIELD;
    find_objects(arena, expression, node->a, !only_address);
    find_objects(arena, expression, node->b, true);
    find_objects(arena, expression, node->c, true);
    if (whole && is_object(node) && has_value(node))
        vector_push(arena, &expression->objects, node);
}

static const char *tail_of(const struct parser *parser) {
    if (*parser->at == '=' && parser->at[1] != '=')
        return "'=' would change a variable; '==' compares";
    if (*parser->at == '(')
        return "functions cannot be called: the program stands still";
    return "an operator must stand here, or the end";
}

/* All of the text.  Returns NULL where the tree has its error. */
static struct node *parse_whole(struct parser *parser) {
    struct node *root = parse_condition(parser);
    skip_blanks(parser);
    if (root && *parser->at)
        refuse(parser, parser->at, tail_of(parser));
    return parser->tree.wrong ? NULL : root;
}

static struct parser begin_parser(struct arena *arena, const struct variables *variables,
                                  const char *text) {
    return (struct parser){.variables = variables,
                           .tree = {.arena = arena, .binary = variables->binary, .text = text},
                           .at = text};
}

const char *parse_expression(struct arena *arena, const struct variables *variables,
                             const char *text, struct expression *expression, size_t *where) {
    struct parser parser = begin_parser(arena, variables, text);
    *expression = (struct expression){.text = text};
    struct node *root = parse_whole(&parser);
    if (root)
        check_scalar(&parser.tree, root);
    *where = parser.tree.where;
    if (parser.tree.wrong)
        return parser.tree.wrong;
    expression->root = root;
    find_objects(arena, expression, root, true);
    return expression->objects.count ? NULL : "it names no variable, so it never changes";
}

const char *parse_object(struct arena *arena, const struct variables *variables, const char *text,
                         struct object *object, size_t *where) {
    struct parser parser = begin_parser(arena, variables, text);
    parser.may_slice = true;
    *object = (struct object){.text = text, .way = {.text = text}};
    struct node *root = parse_whole(&parser);
    if (root && parser.slice && root != parser.slice)
        refuse(&parser, text, "a slice must be the last that is named");
    else if (root && !is_object(root))
        refuse(&parser, text, "that has a value, but no place in memory that could be written");
    *where = parser.tree.where;
    object->is_missing = parser.is_missing;
    object->is_local = parser.is_local;
    if (parser.tree.wrong)
        return parser.tree.wrong;
    object->node = root;
    object->count = parser.count;
    object->way.root = root;
    find_objects(arena, &object->way, root, false);
    return NULL;
}
