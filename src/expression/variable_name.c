/* variable_name.c: names of variables in expressions: NAME, FILE:NAME, SCOPE::NAME and MODULE:NAME.
 *
 * A file's name has no form of its own. The text before a ':' is a file's name if it is a source
 * file of the program. */
#include "expression/parser.h"

#include "symbols/type_name.h"

#include <ctype.h>
#include <string.h>

bool begins_name(char c) {
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

size_t name_length(const char *text) {
    size_t length = 0;
    while (begins_name(text[length]) || (length && isdigit((unsigned char)text[length])))
        length++;
    return length;
}

#define ANONYMOUS "(anonymous namespace)::"

/* Paths of variables do not contain namespaces without a name. */
static bool begins_anonymous(const char *text) {
    return strncmp(text, ANONYMOUS, strlen(ANONYMOUS)) == 0;
}

bool begins_variable(const char *text) {
    return begins_name(*text) || begins_anonymous(text);
}

/* Returns the length of what may be a file's name. */
static size_t file_length(const char *text) {
    size_t length = 0;
    while (text[length] && (isalnum((unsigned char)text[length]) || strchr("_./+-", text[length])))
        length++;
    return length;
}

const char *parse_file(struct parser *parser) {
    size_t length = file_length(parser->at);
    const char *colon = parser->at + length;
    if (!length || *colon != ':' || !begins_variable(colon + 1) ||
        !is_source(parser->variables, parser->at, length))
        return NULL;
    const char *file = arena_copy(parser->tree.arena, parser->at, length);
    parser->at = colon + 1;
    return file;
}

/* Returns the length of a template's arguments with their brackets, or 0 if they do not end. */
static size_t brackets_length(const char *text) {
    size_t length = 0, depth = 0;
    do {
        depth += text[length] == '<';
        depth -= text[length] == '>';
        length += text[length] != '\0';
    } while (depth && text[length]);
    return depth ? 0 : length;
}

/* Returns the length of template arguments with '::' and a name behind them, or 0. In C, 'a < b >
 * ::c' has no meaning, so this is a name. */
static size_t arguments_length(const char *text) {
    size_t length = brackets_length(text);
    bool good = length && strncmp(text + length, "::", 2) == 0;
    return good && name_length(text + length + 2) ? length : 0;
}

size_t member_length(const char *text) {
    size_t length = name_length(text), next = length;
    while (next) {
        next = text[length] == '<' ? arguments_length(text + length) : 0;
        if (strncmp(text + length + next, "::", 2) != 0 || !name_length(text + length + next + 2))
            break;
        length += next + 2;
        next = name_length(text + length);
        length += next;
    }
    return length;
}

bool parse_module(struct parser *parser) {
    const char *module = parser->variables->module;
    size_t length = module ? strlen(module) : 0;
    if (!length || strncmp(parser->at, module, length) != 0 || parser->at[length] != ':' ||
        parser->at[length + 1] == ':')
        return false;
    parser->at += length + 1;
    return true;
}

/* Returns the length of the template arguments behind LENGTH bytes of a name, if a variable has the
 * name with these arguments. Returns 0 otherwise. */
static size_t last_arguments_length(const struct parser *parser, const char *file, size_t length) {
    const char *text = parser->at;
    const struct variable *variable = NULL;
    size_t more = length && text[length] == '<' ? brackets_length(text + length) : 0;
    if (more)
        find_variable(parser->variables, file, arena_copy(parser->tree.arena, text, length + more),
                      &variable);
    return variable ? more : 0;
}

/* Returns the length of a function's parameters in a name, with their parentheses, or 0. In C,
 * 'f(x)::c' has no meaning, so this is a name. */
static size_t parameters_length(const char *text) {
    size_t length = 0, depth = 0;
    if (*text != '(')
        return 0;
    do {
        depth += text[length] == '(';
        depth -= text[length] == ')';
        length += text[length] != '\0';
    } while (depth && text[length]);
    return !depth && strncmp(text + length, "::", 2) == 0 && name_length(text + length + 2) ? length
                                                                                            : 0;
}

static const char *parse_name(struct parser *parser, const char *file) {
    const char *outer = "";
    size_t length = 0;
    for (;;) { /* a::b, a<int>::b, a(int)::b, (anonymous namespace)::b */
        const char *more = parser->at + length;
        size_t next = name_length(more);
        if (begins_anonymous(more)) {
            outer = arena_print(parser->tree.arena, "%s%.*s", outer, (int)length, parser->at);
            parser->at += length + strlen(ANONYMOUS);
            length = 0;
            continue;
        }
        if (!next)
            break;
        length += next;
        length += parser->at[length] == '<' ? arguments_length(parser->at + length) : 0;
        length += parameters_length(parser->at + length);
        if (strncmp(parser->at + length, "::", 2) != 0 ||
            !(name_length(parser->at + length + 2) || begins_anonymous(parser->at + length + 2)))
            break;
        length += 2;
    }
    length += last_arguments_length(parser, file, length);
    const char *name = arena_print(parser->tree.arena, "%s%.*s", outer, (int)length, parser->at);
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

/* Returns the text at TEXT that looks like a file's name: it has a '.', and a ':' and a name
 * follow. No '?' precedes it, to which the ':' could belong. Returns NULL if there is none. */
static const char *meant_file(const struct parser *parser, const char *text) {
    size_t length = file_length(text);
    const char *file = arena_copy(parser->tree.arena, text, length);
    bool follows_question = memchr(parser->tree.text, '?', (size_t)(text - parser->tree.text));
    return text[length] == ':' && begins_variable(text + length + 1) && strchr(file, '.') &&
                   !follows_question
               ? file
               : NULL;
}

/* Whether TEXT begins with the type of a function or an array, or of a pointer to one. */
static bool begins_other_type(const char *text) {
    size_t length = 0;
    if (begins_type_name(text))
        while (isspace((unsigned char)text[length]) || name_length(text + length))
            length += name_length(text + length) ? name_length(text + length) : 1;
    else
        length = name_length(text) + strspn(text + name_length(text), " ");
    bool is_pointer = strncmp(text + length, "(*", 2) == 0;
    return is_pointer || (begins_type_name(text) && text[length] && strchr("([", text[length]));
}

/* Returns the error message for an operator or a type at TEXT that C has, but expressions do not
 * have. Returns NULL if there is none. */
static const char *unsupported(struct arena *arena, const char *text) {
    static const char *const operators[] = {"sizeof", "alignof", "_Alignof", "typeof", "offsetof"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (name_length(text) == strlen(operators[i]) &&
            strncmp(text, operators[i], strlen(operators[i])) == 0)
            return arena_print(arena, "there is no '%s' in expressions; write its number",
                               operators[i]);
    return begins_other_type(text)
               ? "casts are to numbers and to pointers to what has a name; to functions and arrays, "
                 "and pointers to these, there are none"
               : NULL;
}

/* Returns why there is no variable at BEGIN: WRONG, or a better message. */
static const char *explain(const struct parser *parser, const char *begin, const char *wrong) {
    const char *file = meant_file(parser, begin);
    if (*parser->at == '(' && !parser->variables->has_fortran)
        return "functions cannot be called: the program stands still";
    return file && parser->variables->binary->dwarf &&
                   !is_source(parser->variables, file, strlen(file))
               ? no_source(parser->variables, file)
               : wrong;
}

struct node *parse_variable(struct parser *parser) {
    const char *begin = parser->at;
    parse_module(parser);
    const char *named = parser->at;
    const char *file = parse_file(parser), *name = parse_name(parser, file);
    const struct variable *variable = NULL;
    const char *wrong = find_variable(parser->variables, file, name, &variable);
    if (wrong) {
        struct node *word = file ? NULL : known_word(parser, name);
        const char *lacks = variable ? NULL : unsupported(parser->tree.arena, named);
        skip_blanks(parser);
        if (lacks)
            return refuse(parser, named, lacks);
        if (!word && !variable)
            wrong = explain(parser, named, wrong);
        parser->is_missing |= !variable && !parser->tree.wrong;
        parser->is_local |= variable && variable->is_local && !strstr(name, "::");
        return word ? word : refuse(parser, begin, wrong);
    }
    if (variable->is_constant)
        return make_number(&parser->tree, (uint64_t)variable->value,
                           variable->value == (int32_t)variable->value ? 4 : 8, true);
    return make_object(&parser->tree, variable->address, &variable->type);
}
