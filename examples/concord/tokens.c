/* tokens.c: text to words; see tokens.h.
 *
 * A word is a run of letters.  Plural endings go by Harman's S-stemmer ("How effective is
 * suffixing?", 1991): the first rule whose ending fits is the one that is tried. */
#include "tokens.h"

#include <string.h>

static bool is_letter(unsigned char c) {
    c |= 0x20;
    return c >= 'a' && c <= 'z';
}

static bool ends_in(const struct token *token, const char *ending) {
    size_t length = strlen(ending);
    return token->length > length &&
           memcmp(token->text + token->length - length, ending, length) == 0;
}

static void take_plural_off(struct token *token) {
    if (token->length < 4 || token->text[token->length - 1] != 's')
        return;
    if (ends_in(token, "ies")) {
        if (ends_in(token, "eies") || ends_in(token, "aies"))
            return;
        token->length -= 2;
        token->text[token->length - 1] = 'y';
    } else if (ends_in(token, "es")) {
        if (!ends_in(token, "aes") && !ends_in(token, "ees") && !ends_in(token, "oes"))
            token->length--;
    } else if (!ends_in(token, "us") && !ends_in(token, "ss")) {
        token->length--;
    }
}

/* FNV-1a. */
static uint32_t hash_text(const char *text, uint32_t length) {
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

bool next_token(struct reader *reader, struct token *token) {
    const char *c = reader->next;
    while (c < reader->end && !is_letter((unsigned char)*c))
        c++;
    token->length = 0;
    for (; c < reader->end && is_letter((unsigned char)*c); c++)
        if (token->length < TOKEN_MAX)
            token->text[token->length++] = (char)(*c | 0x20);
    reader->next = c;
    if (token->length == 0)
        return false;
    take_plural_off(token);
    token->hash = hash_text(token->text, token->length);
    return true;
}
