/* demangle.c: names of C++, D and Rust as the source has them; see demangle.h. libiberty demangles.
 */
#include "symbols/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_LONG = 48,     /* bytes; a longer name is made shorter */
    ARGUMENTS_LONG = 16 /* bytes; longer arguments are left out */
};

static const char *demangle_by(struct arena *arena, const char *name, int options) {
    if (name[0] != '_')
        return name;
    /* DMGL_AUTO does not include D. */
    char *text = name[1] == 'D' ? dlang_demangle(name, 0) : cplus_demangle(name, options);
    if (!text)
        return name;
    const char *copy = arena_copy(arena, text, strlen(text));
    free(text);
    return copy;
}

const char *demangle(struct arena *arena, const char *name) {
    return demangle_by(arena, name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
}

const char *plain_name(struct arena *arena, const char *name) {
    size_t length = strcspn(name, ".");
    const char *whole = length ? arena_copy(arena, name, length) : name;
    return demangle_by(arena, whole, DMGL_AUTO | DMGL_ANSI);
}

void demangle_name(char *text, size_t size) {
    struct arena arena = {0};
    size_t length = strcspn(text, "+@");
    const char *name = demangle(&arena, arena_copy(&arena, text, length));
    const char *whole = arena_print(&arena, "%s%s", name, text + length);
    if (strlen(whole) < size)
        memcpy(text, whole, strlen(whole) + 1);
    arena_release(&arena);
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Blanks have a meaning only between words: "unsigned int". */
static bool is_same_text(const char *a, const char *b) {
    for (char last = '\0';; last = *a++, b++) {
        bool apart = (*a == ' ') != (*b == ' ');
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b || (apart && is_word(last) && is_word(*a)))
            return false;
        if (!*a)
            return true;
    }
}

bool is_called(const char *name, const char *text) {
    if (strcmp(name, text) == 0)
        return true;
    if (name[0] != '_')
        return false;
    struct arena arena = {0};
    bool same = is_same_text(demangle(&arena, name), text) ||
                is_same_text(demangle_by(&arena, name, DMGL_AUTO | DMGL_ANSI), text);
    arena_release(&arena);
    return same;
}

/* Returns the length of the text from the bracket at TEXT to its closing bracket, or 0 if there is
 * none. */
static size_t bracket_length(const char *text) {
    size_t depth = 0;
    for (size_t i = 0; text[i]; i++) {
        bool arrow = text[i] == '>' && i && text[i - 1] == '-';
        depth += text[i] == '<' || text[i] == '(';
        depth -= !arrow && (text[i] == '>' || text[i] == ')');
        if (!depth)
            return i + 1;
    }
    return 0;
}

/* Returns the length of the operator's name at TEXT, or 0. Its brackets enclose no arguments. */
static size_t operator_length(const char *text) {
    static const char word[] = "operator";
    static const char *const signs[] = {"()", "<<=", ">>=", "<=>", "->*", "\"\" ", "<<",
                                        ">>", "->",  "<=",  ">=",  "<",   ">",     " "};
    size_t length = sizeof word - 1;
    if (strncmp(text, word, length) != 0)
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(text + length, signs[i], strlen(signs[i])) == 0)
            return length + strlen(signs[i]);
    return length;
}

const char *short_name(struct arena *arena, const char *name) {
    size_t length = strlen(name), out = 0;
    if (length <= NAME_LONG)
        return name;
    char *text = arena_alloc(arena, length + 1);
    bool converts = false; /* within the type of 'operator TYPE()' */
    for (const char *at = name; *at;) {
        size_t size = *at == '[' ? strcspn(at, "]") : operator_length(at);
        bool opens = *at == '<' || *at == '(';
        converts = size ? at[size - 1] == ' ' : converts && *at != '(';
        size_t inner = opens ? bracket_length(at) : 0;
        if (inner > ARGUMENTS_LONG && strncmp(at, "(anonymous namespace)", inner) != 0) {
            memcpy(text + out, *at == '<' ? "<...>" : "(...)", 5);
            out += 5;
            at += inner;
            continue;
        }
        if (*at == ' ' && !converts && strncmp(at, " const", 6) != 0 &&
            !strchr("<[", at[1])) { /* the return type ends here */
            out = 0;
            at++;
            continue;
        }
        size = size ? size : inner ? inner : 1;
        memcpy(text + out, at, size);
        out += size;
        at += size;
    }
    text[out] = '\0';
    return text;
}
