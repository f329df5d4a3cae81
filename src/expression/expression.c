/* expression.c: the grammar of expressions; see expression.h.
 *
 * The grammar is ISO C 2011, 6.5, without calls, assignments and sizeof. Some forms differ:
 *
 *   - An object may be a slice ARRAY[FIRST..LAST].
 *   - A name in parentheses is a type if no variable has that name.
 *   - Parentheses behind a Fortran array contain indices.
 *   - '%' may precede a member, as in Fortran.
 *
 * literal.c reads constants, variable_name.c names, and subscript.c indices. */
#include "expression/expression.h"

#include "expression/parser.h"
#include "symbols/type_name.h"

#include <ctype.h>
#include <string.h>

enum {
    DEPTH_MAX = 200 /* of nested parentheses and operators */
};

static struct node *parse_unary(struct parser *parser);

/* ---- the grammar, from the inside out: NULL is an error, which is in the tree ---- */

static struct node *parse_primary(struct parser *parser) {
    skip_blanks(parser);
    size_t begin = place(parser);
    const char *at = parser->at;
    struct node *node;
    if (*at == '(' && !begins_variable(at)) {
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
    else if (begins_variable(at) || parse_module(parser) || parse_file(parser)) {
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
    size_t where = place(parser), length = member_length(parser->at);
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

/* Returns the object that NODE, a 'class' variable, holds: that is what its name means in the
 * source. Returns any other NODE itself. */
static struct node *held_by_class(struct parser *parser, struct node *node) {
    if (!is_class_container(&node->type))
        return node;
    size_t begin = node->begin, end = node->end;
    struct node *held = make_field(&parser->tree, node, "_data", begin);
    if (held) {
        held->begin = begin;
        held->end = end;
    }
    return held;
}

/* Whether indices of a Fortran array follow. Takes their '('. Replaces a 'class' variable in NODE
 * by what it holds. */
static bool names_element(struct parser *parser, struct node **node) {
    if (is_class_container(&(*node)->type) && *parser->at == '(')
        *node = held_by_class(parser, *node);
    return *node && dimensions_of(&(*node)->type) && take(parser, "(");
}

/* Takes Fortran's '%'. It has no other meaning behind a structure or a pointer. */
static bool names_component(struct parser *parser, const struct node *node) {
    return (node->type.kind == TYPE_RECORD || node->type.kind == TYPE_POINTER) && take(parser, "%");
}

/* Reads a component of NODE. The components of a 'class' variable's container itself begin with
 * '_', such as '_data'. */
static struct node *parse_component(struct parser *parser, struct node *node) {
    skip_blanks(parser);
    node = *parser->at == '_' ? node : held_by_class(parser, node);
    return node ? parse_member(parser, node, node->type.kind == TYPE_POINTER) : NULL;
}

static struct node *parse_postfix(struct parser *parser) {
    struct node *node = parse_primary(parser);
    while (node) {
        size_t begin = node->begin;
        if (take(parser, "++") || take(parser, "--"))
            return refuse(parser, parser->at - 2, "nothing can be changed");
        if (take(parser, "["))
            node = parse_subscripts(parser, node, ']');
        else if (names_element(parser, &node))
            node = parse_subscripts(parser, node, ')');
        else if (take(parser, "->"))
            node = parse_member(parser, node, true);
        else if (names_component(parser, node))
            node = parse_component(parser, node);
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
    default: /* +: the same value, but not an object */
        return make_binary(&parser->tree, OPERATION_ADD, operand,
                           make_number(&parser->tree, 0, 4, true));
    }
}

/* Whether the text from NAME to END, in parentheses, is the name of a type. It is one if it begins
 * with a word such as "struct". Otherwise no variable may have that name, and the type must exist
 * (KNOWN) or a '*' must follow. */
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

/* Reads (TYPE) OPERAND. Returns false, and reads nothing, if there is no cast here. */
static bool parse_cast(struct parser *parser, struct node **node) {
    const char *begin = parser->at, *wrong = NULL;
    struct type type;
    *node = NULL;
    if (begins_variable(begin) || !take(parser, "("))
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

/* If the text of an operator begins with another operator, it is listed first. An operator with '='
 * behind it is an assignment. */
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

/* Reads operators whose precedence is at least PRECEDENCE, with their operands. */
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

struct node *parse_condition(struct parser *parser) {
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

/* ---- whole expressions ---- */

static bool has_value(const struct node *node) {
    return node->type.kind == TYPE_INTEGER || node->type.kind == TYPE_FLOATING ||
           node->type.kind == TYPE_POINTER;
}

/* Finds the objects whose contents are read, each once, from left to right. WHOLE: the value of
 * NODE is needed, and not only its address. */
static void find_objects(struct arena *arena, struct expression *expression, struct node *node,
                         bool whole) {
    if (!node)
        return;
    bool only_address = node->kind == NODE_ADDRESS || node->kind == NODE_FIELD;
    find_objects(arena, expression, node->a, !only_address);
    find_objects(arena, expression, node->b, true);
    find_objects(arena, expression, node->c, true);
    bool is_read = whole && is_object(node) && has_value(node);
    for (size_t i = 0; is_read && i < expression->objects.count; i++)
        is_read = expression->objects.data[i] != node;
    if (is_read)
        vector_push(arena, &expression->objects, node);
}

static const char *tail_of(const struct parser *parser) {
    if (*parser->at == '=' && parser->at[1] != '=')
        return "'=' would change a variable; '==' compares";
    if (*parser->at == '(')
        return "functions cannot be called: the program stands still";
    return "an operator must stand here, or the end";
}

/* Reads all of the text. Returns NULL if the tree has an error. */
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
    *object = (struct object){.text = text, .path = {.text = text}};
    struct node *root = parse_whole(&parser);
    if (root && parser.slice && root != parser.slice)
        refuse(&parser, text, "a slice must be the last that is named");
    else if (root && root->type.is_described)
        refuse(&parser, text, described_array(&parser.tree, root));
    else if (root && !is_object(root))
        refuse(&parser, text, "that has a value, but no place in memory that could be written");
    *where = parser.tree.where;
    object->is_missing = parser.is_missing;
    object->is_local = parser.is_local;
    if (parser.tree.wrong)
        return parser.tree.wrong;
    object->node = root;
    object->count = parser.count;
    object->is_described = parser.is_described;
    object->first = parser.first;
    object->base = parser.base;
    object->base_end = parser.base_end;
    object->others = parser.others;
    object->path.root = root;
    find_objects(arena, &object->path, root, false);
    return NULL;
}
