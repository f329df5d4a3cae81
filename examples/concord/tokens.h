/* tokens.h: text to words. */
#ifndef CONCORD_TOKENS_H
#define CONCORD_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TOKEN_MAX = 40 /* letters; what is longer is cut */
};

struct token {
    uint32_t length;
    uint32_t hash;
    char text[TOKEN_MAX]; /* lower case, plural endings taken off; not NUL-terminated */
};

/* What is left to be read. */
struct reader {
    const char *next, *end;
};

/* Reads the next word into TOKEN.  Returns false at the end. */
bool next_token(struct reader *reader, struct token *token);

#endif
