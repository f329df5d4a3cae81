/* spelling.c: one spelling of names that have template arguments; see spelling.h.
 *
 * gcc and clang write the arithmetic types and the blanks of such names differently. In the one
 * spelling the words of a type are in alphabetical order. It has no 'int' and 'signed' that are
 * redundant, and blanks only between words. */
#include "symbols/spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS_MAX = 8 /* of one type; the words behind them are sorted separately */
};

struct words {
    const char *of[WORDS_MAX];
    size_t count;
};

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool has_word(const struct words *words, const char *word) {
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->of[i], word) == 0)
            return true;
    return false;
}

static void drop_word(struct words *words, const char *word) {
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->of[i], word) == 0)
            words->of[i--] = words->of[--words->count];
}

static int compare(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Reads the words at TEXT. Returns the text behind them. */
static const char *take_words(struct arena *arena, const char *text, struct words *words) {
    words->count = 0;
    while (is_word(*text) && words->count < WORDS_MAX) {
        size_t length = 0;
        while (is_word(text[length]))
            length++;
        words->of[words->count++] = arena_copy(arena, text, length);
        text += length;
        text += strspn(text, " ");
    }
    return text;
}

static const char *join_words(struct arena *arena, struct words *words) {
    const char *text = "";
    if (!has_word(words, "char"))
        drop_word(words, "signed");
    if (words->count > 1)
        drop_word(words, "int");
    if (words->count == 0)
        return "int";
    qsort(words->of, words->count, sizeof *words->of, compare);
    for (size_t i = 0; i < words->count; i++)
        text = arena_print(arena, i ? "%s %s" : "%s%s", text, words->of[i]);
    return text;
}

/* Returns TEXT, followed by the text at AT in one spelling. */
static const char *add_spelling(struct arena *arena, const char *text, const char *at) {
    struct words words;
    while (*at) {
        if (is_word(*at)) {
            at = take_words(arena, at, &words);
            text = arena_print(arena, is_word(*at) ? "%s%s " : "%s%s", text,
                               join_words(arena, &words));
        } else {
            text = *at == ' ' ? text : arena_print(arena, "%s%c", text, *at);
            at++;
        }
    }
    return text;
}

const char *one_spelling(struct arena *arena, const char *name) {
    const char *at = strchr(name, '<');
    return at ? add_spelling(arena, arena_copy(arena, name, (size_t)(at - name)), at) : name;
}

const char *one_parameters(struct arena *arena, const char *text, size_t length) {
    const char *spelling = add_spelling(arena, "", arena_copy(arena, text, length));
    return strcmp(spelling, "(void)") == 0 ? "()" : spelling;
}

const char *without_parameters(struct arena *arena, const char *name, const char **parameters) {
    const char *begin = strchr(name, '('), *end = strrchr(name, ')');
    if (!begin || !end || end < begin)
        return name;
    *parameters = one_parameters(arena, begin, (size_t)(end + 1 - begin));
    return arena_print(arena, "%.*s%s", (int)(begin - name), name, end + 1);
}

const char *without_arguments(struct arena *arena, const char *name) {
    size_t count = 0, depth = 0;
    char *text = arena_copy(arena, name, strlen(name));
    for (; *name; name++) {
        depth += *name == '<';
        if (!depth)
            text[count++] = *name;
        depth -= depth && *name == '>';
    }
    text[count] = '\0';
    return text;
}
