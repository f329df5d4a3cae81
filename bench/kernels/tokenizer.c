/* tokenizer.c: a state machine that takes C-like text apart, a character at a time. */
#include "kernel.h"

#include <stdio.h>

enum {
    SIZE = 1 << 18
};

enum state {
    BLANK,
    NAME,
    NUMBER,
    STRING,
    ESCAPE,
    SLASH,
    COMMENT,
    STAR,
    OPERATOR,
    STATES
};

static char text[SIZE + 1];

static int is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static enum state begin(char c) {
    if (is_letter(c))
        return NAME;
    if (is_digit(c))
        return NUMBER;
    if (c == '"')
        return STRING;
    if (c == '/')
        return SLASH;
    return c == ' ' || c == '\n' ? BLANK : OPERATOR;
}

static enum state step(enum state state, char c) {
    switch (state) {
    case NAME:
        return is_letter(c) || is_digit(c) ? NAME : begin(c);
    case NUMBER:
        return is_digit(c) || c == '.' || c == 'x' ? NUMBER : begin(c);
    case STRING:
        return c == '"' ? BLANK : c == '\\' ? ESCAPE : STRING;
    case ESCAPE:
        return STRING;
    case SLASH:
        return c == '*' ? COMMENT : begin(c);
    case COMMENT:
        return c == '*' ? STAR : COMMENT;
    case STAR:
        return c == '/' ? BLANK : c == '*' ? STAR : COMMENT;
    default:
        return begin(c);
    }
}

/* Counts tokens by the state that they begin with. */
static void count_tokens(const char *s, uint32_t *counts) {
    enum state state = BLANK;
    for (; *s; s++) {
        enum state next = step(state, *s);
        if (next != state)
            counts[next]++;
        state = next;
    }
}

int main(int argc, char **argv) {
    static const char *const pieces[] = {
        "while ",
        "(",
        "count_1",
        " < ",
        "0x1000",
        ") {\n",
        "/* a comment * here */ ",
        "x",
        " += ",
        "3.5",
        ";\n",
        "\"a string \\\" \"",
        "return ",
        "f(a, b)",
        "\n",
        "}",
    };
    uint64_t random = 8;
    for (size_t at = 0; at < SIZE;)
        for (const char *p = pieces[next_random(&random) % 16]; *p && at < SIZE; p++)
            text[at++] = *p;
    uint32_t counts[STATES] = {0}, checksum = 0;
    for (unsigned round = kernel_rounds(argc, argv, 1200); round; round--) {
        text[next_random(&random) % SIZE] = ' ';
        count_tokens(text, counts);
    }
    for (int i = 0; i < STATES; i++)
        checksum = checksum * 31 + counts[i];
    printf("%u\n", checksum);
    return 0;
}
