/* spelling.c: one spelling of names that have template arguments; see spelling.h.
 *
 * gcc and clang write the arithmetic types and the blanks of such names differently. In the one
 * spelling the words of a type are in alphabetical order. It has no 'int' and 'signed' that are
 * redundant, and blanks only between words. */
#include "symbols/spelling.h"

#include "util/buffer.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS_MAX = 8 /* of one type; the words behind them are sorted separately */
};

struct word {
    const char *text;
    size_t length;
};

struct words {
    struct word of[WORDS_MAX];
    size_t count;
};

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool word_is(const struct word *word, const char *wanted) {
    return strlen(wanted) == word->length && memcmp(word->text, wanted, word->length) == 0;
}

static bool has_word(const struct words *words, const char *word) {
    for (size_t i = 0; i < words->count; i++)
        if (word_is(&words->of[i], word))
            return true;
    return false;
}

static void drop_word(struct words *words, const char *word) {
    for (size_t i = 0; i < words->count; i++)
        if (word_is(&words->of[i], word))
            words->of[i--] = words->of[--words->count];
}

static int compare(const void *left, const void *right) {
    const struct word *a = left, *b = right;
    size_t common = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, common);
    return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

/* Reads the words at TEXT. Returns the text behind them. */
static const char *take_words(const char *text, struct words *words) {
    words->count = 0;
    while (is_word(*text) && words->count < WORDS_MAX) {
        size_t length = 0;
        while (is_word(text[length]))
            length++;
        words->of[words->count++] = (struct word){text, length};
        text += length;
        text += strspn(text, " ");
    }
    return text;
}

/* Appends the WORDS of one type. */
static void add_words(struct buffer *text, struct words *words) {
    if (!has_word(words, "char"))
        drop_word(words, "signed");
    if (words->count > 1)
        drop_word(words, "int");
    if (words->count == 0)
        buffer_text(text, "int");
    else
        qsort(words->of, words->count, sizeof *words->of, compare);
    for (size_t i = 0; i < words->count; i++) {
        buffer_text(text, i ? " " : "");
        buffer_add(text, words->of[i].text, words->of[i].length);
    }
}

/* Returns BEGIN, of LENGTH bytes, followed by the text at AT in one spelling. */
static const char *add_spelling(struct arena *arena, const char *begin, size_t length,
                                const char *at) {
    struct buffer text = {0};
    struct words words;
    buffer_add(&text, begin, length);
    while (*at) {
        if (is_word(*at)) {
            at = take_words(at, &words);
            add_words(&text, &words);
            buffer_text(&text, is_word(*at) ? " " : "");
        } else {
            buffer_add(&text, at, *at != ' ');
            at++;
        }
    }
    const char *copy = arena_copy(arena, text.data ? text.data : "", text.count);
    buffer_release(&text);
    return copy;
}

const char *one_spelling(struct arena *arena, const char *name) {
    const char *at = strchr(name, '<');
    return at ? add_spelling(arena, name, (size_t)(at - name), at) : name;
}

const char *one_parameters(struct arena *arena, const char *text, size_t length) {
    const char *spelling = add_spelling(arena, "", 0, arena_copy(arena, text, length));
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
