/* type_name.c: types by name; see type_name.h.
 *
 * The grammar is ISO C 2011, 6.7.7, without arrays and functions. Names of C++ classes may have
 * scopes. The types of C itself and of <stdint.h> need no debug information.
 *
 * Not perfect: types that are declared in a function are not found. */
#include "symbols/type_name.h"

#include "symbols/variables.h"
#include "util/near.h"

#include <ctype.h>
#include <dwarf.h>
#include <string.h>

enum {
    DEPTH_MAX = 16 /* of namespaces and classes */
};

/* ---- words ---- */

static size_t word_length(const char *text) {
    size_t length = 0;
    while (isalpha((unsigned char)text[length]) || text[length] == '_' || text[length] == '$' ||
           (length && isdigit((unsigned char)text[length])))
        length++;
    return length;
}

static bool is_word(const char *text, const char *word) {
    return word_length(text) == strlen(word) && strncmp(text, word, strlen(word)) == 0;
}

/* Takes WORD at *AT, and the blanks behind it. */
static bool take_word(const char **at, const char *word) {
    if (!is_word(*at, word))
        return false;
    *at += strlen(word);
    *at += strspn(*at, " \t");
    return true;
}

static void take_qualifiers(const char **at) {
    while (take_word(at, "const") || take_word(at, "volatile") || take_word(at, "restrict"))
        continue;
}

/* ---- types of C ---- */

enum {
    WORD_LONG = 1, /* a second one sets the next bit, too */
    WORD_SHORT = 4,
    WORD_UNSIGNED = 8,
    WORD_SIGNED = 16,
    WORD_CHAR = 32,
    WORD_INT = 64,
    WORD_FLOAT = 128,
    WORD_DOUBLE = 256,
    WORD_BOOL = 512,
    WORD_VOID = 1024,
};

static const struct {
    const char *word;
    unsigned bit;
} words[] = {{"long", WORD_LONG},     {"short", WORD_SHORT},   {"unsigned", WORD_UNSIGNED},
             {"signed", WORD_SIGNED}, {"char", WORD_CHAR},     {"int", WORD_INT},
             {"float", WORD_FLOAT},   {"double", WORD_DOUBLE}, {"_Bool", WORD_BOOL},
             {"bool", WORD_BOOL},     {"void", WORD_VOID}};

static const struct {
    const char *name;
    struct type type;
} given[] = {
    {"int8_t", {.kind = TYPE_INTEGER, .size = 1, .is_signed = true}},
    {"int16_t", {.kind = TYPE_INTEGER, .size = 2, .is_signed = true}},
    {"int32_t", {.kind = TYPE_INTEGER, .size = 4, .is_signed = true}},
    {"int64_t", {.kind = TYPE_INTEGER, .size = 8, .is_signed = true}},
    {"intptr_t", {.kind = TYPE_INTEGER, .size = 8, .is_signed = true}},
    {"ssize_t", {.kind = TYPE_INTEGER, .size = 8, .is_signed = true}},
    {"uint8_t", {.kind = TYPE_INTEGER, .size = 1}},
    {"uint16_t", {.kind = TYPE_INTEGER, .size = 2}},
    {"uint32_t", {.kind = TYPE_INTEGER, .size = 4}},
    {"uint64_t", {.kind = TYPE_INTEGER, .size = 8}},
    {"uintptr_t", {.kind = TYPE_INTEGER, .size = 8}},
    {"size_t", {.kind = TYPE_INTEGER, .size = 8}},
};

bool begins_type_name(const char *text) {
    static const char *const others[] = {"struct", "union", "enum", "class", "const", "volatile"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_word(text, others[i]))
            return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(text, words[i].word))
            return true;
    return false;
}

/* Returns the type of the words whose bits are in BITS. Their order has no meaning. */
static struct type type_of_words(unsigned bits) {
    unsigned longs = bits & (2 * WORD_LONG | WORD_LONG);
    struct type type = {.kind = TYPE_INTEGER, .is_signed = !(bits & WORD_UNSIGNED), .size = 4};
    if (bits & WORD_VOID)
        return (struct type){.kind = TYPE_NONE, .size = 1, .name = "void"};
    if (bits & WORD_BOOL)
        return (struct type){.kind = TYPE_INTEGER, .size = 1, .is_boolean = true, .name = "bool"};
    if (bits & (WORD_FLOAT | WORD_DOUBLE)) {
        type = (struct type){.kind = TYPE_FLOATING, .size = bits & WORD_FLOAT ? 4 : 8};
        type.size = longs ? 16 : type.size;
        type.name = longs ? "long double" : bits & WORD_FLOAT ? "float" : "double";
    } else if (bits & WORD_CHAR) {
        type.size = 1;
        type.name = bits & WORD_UNSIGNED ? "unsigned char"
                    : bits & WORD_SIGNED ? "signed char"
                                         : "char";
    } else if (bits & WORD_SHORT) {
        type.size = 2;
        type.name = type.is_signed ? "short" : "unsigned short";
    } else if (longs) {
        type.size = 8;
        type.name = type.is_signed ? "long" : "unsigned long";
    } else {
        type.name = type.is_signed ? "int" : "unsigned int";
    }
    return type;
}

/* Takes the words at *AT, and qualifiers between them. Returns whether there are any words. */
static bool take_words(const char **at, struct type *type) {
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bits & words[i].bit && (words[i].bit != WORD_LONG || bits & 2 * WORD_LONG)) {
            continue; /* no type has the word once more */
        } else if (take_word(at, words[i].word)) {
            bits |= bits & words[i].bit ? 2 * WORD_LONG : words[i].bit;
            i = (size_t)-1;
        } else if (take_word(at, "const") || take_word(at, "volatile")) {
            i = (size_t)-1;
        }
    *type = type_of_words(bits);
    return bits != 0;
}

/* ---- types of the program ---- */

struct search {
    const char *path; /* "ns::table" */
    int tag;          /* 0: no keyword precedes the name; it may be of any kind */
    Dwarf_Die die;    /* the entry found; it may be only a declaration */
    bool is_found, is_defined;
    struct near_names near_names;
};

static bool has_tag(const struct search *search, int tag) {
    if (search->tag)
        return tag == search->tag ||
               (search->tag == DW_TAG_structure_type && tag == DW_TAG_class_type);
    return tag == DW_TAG_typedef || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type || tag == DW_TAG_base_type;
}

/* Searches the children of PARENT for PATH. */
static void search_in(struct search *search, Dwarf_Die *parent, const char *path, unsigned depth) {
    Dwarf_Die die;
    if (depth > DEPTH_MAX || search->is_defined || dwarf_child(parent, &die) != 0)
        return;
    do {
        const char *name = dwarf_diename(&die);
        int tag = dwarf_tag(&die);
        bool is_scope =
            tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
        if (name && has_tag(search, tag)) {
            offer_name(&search->near_names, name);
            if (strcmp(name, path) == 0) {
                search->die = die;
                search->is_found = true;
                search->is_defined = !dwarf_hasattr(&die, DW_AT_declaration);
            }
        }
        size_t length = name ? strlen(name) : 0;
        if (tag == DW_TAG_namespace && (!name || dwarf_hasattr(&die, DW_AT_export_symbols)))
            search_in(search, &die, path, depth + 1);
        if (is_scope && length && strncmp(path, name, length) == 0 &&
            strncmp(path + length, "::", 2) == 0)
            search_in(search, &die, path + length + 2, depth + 1);
    } while (!search->is_defined && dwarf_siblingof(&die, &die) == 0);
}

static void search_all(const struct binary *binary, struct search *search) {
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;
    if (!binary->dwarf)
        return;
    while (!search->is_defined && next_unit(binary->dwarf, &unit, &top))
        search_in(search, &top, search->path, 0);
}

/* Takes "a::b<int>::c" at *AT. Returns NULL if there is no name. */
static const char *take_path(struct arena *arena, const char **at) {
    size_t length = word_length(*at);
    if (!length)
        return NULL;
    for (;;) {
        const char *more = *at + length;
        if (*more == '<') {
            size_t depth = 0;
            do {
                depth += *more == '<';
                depth -= *more == '>';
                more += *more != '\0';
            } while (depth && *more);
            length = (size_t)(more - *at);
        }
        size_t next = strncmp(more, "::", 2) == 0 ? word_length(more + 2) : 0;
        if (!next)
            break;
        length += 2 + next;
    }
    const char *path = arena_copy(arena, *at, length);
    *at += length;
    *at += strspn(*at, " \t");
    return path;
}

static int take_tag(const char **at) {
    static const struct {
        const char *word;
        int tag;
    } tags[] = {{"struct", DW_TAG_structure_type},
                {"class", DW_TAG_structure_type},
                {"union", DW_TAG_union_type},
                {"enum", DW_TAG_enumeration_type}};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (take_word(at, tags[i].word))
            return tags[i].tag;
    return 0;
}

/* Takes the name of a type of the program, or of <stdint.h>. Sets TYPE or WRONG. Returns false if
 * there is no name at *AT. */
static bool take_own(struct arena *arena, const struct binary *binary, const char **at,
                     struct type *type, const char **wrong) {
    const char *begin = *at;
    struct search search = {.tag = take_tag(at)};
    search.path = take_path(arena, at);
    if (!search.path)
        return false;
    search.near_names.wanted = search.path;
    search_all(binary, &search);
    if (search.is_found) {
        *type = type_at(binary, &search.die);
        return true;
    }
    for (size_t i = 0; !search.tag && i < sizeof given / sizeof *given; i++)
        if (strcmp(given[i].name, search.path) == 0) {
            *type = given[i].type;
            type->name = given[i].name;
            return true;
        }
    size_t length = (size_t)(*at - begin);
    while (length && isspace((unsigned char)begin[length - 1]))
        length--;
    *wrong = arena_print(arena, "there is no type '%.*s'%s", (int)length, begin,
                         suggest(arena, &search.near_names));
    return true;
}

/* ---- whole names ---- */

static struct type pointer_to(struct arena *arena, const struct type *type, const char *text,
                              size_t length) {
    struct type *target = ARENA_NEW(arena, struct type);
    *target = *type;
    return (struct type){.kind = TYPE_POINTER,
                         .size = 8,
                         .target = type->kind == TYPE_NONE ? NULL : target,
                         .name = arena_copy(arena, text, length)};
}

size_t read_type_name(struct arena *arena, const struct binary *binary, const char *text,
                      struct type *type, const char **wrong) {
    const char *at = text;
    *wrong = NULL;
    take_qualifiers(&at);
    if (!take_words(&at, type) && !take_own(arena, binary, &at, type, wrong))
        return 0;
    for (;;) {
        take_qualifiers(&at);
        if (*at != '*')
            return (size_t)(at - text);
        at++;
        *type = pointer_to(arena, type, text, (size_t)(at - text));
        at += strspn(at, " \t");
    }
}
