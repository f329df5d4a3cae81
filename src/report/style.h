/* style.h: colours on a terminal, and numbers for people. */
#ifndef QUIPU_REPORT_STYLE_H
#define QUIPU_REPORT_STYLE_H

#include "util/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum style {
    STYLE_PLAIN,
    STYLE_TITLE, /* headings */
    STYLE_HOT,   /* a large share of the whole */
    STYLE_WARM,
    STYLE_NEVER, /* never executed */
    STYLE_DIM,   /* less important: padding, source between instructions */
};

/* Return the escape sequence that starts STYLE, and the one that ends it, or "" without COLOR. */
const char *style_start(bool color, enum style style);
const char *style_end(bool color, enum style style);

/* Returns the style for a row with that SHARE of the whole, from 0 to 1. */
enum style style_of_share(double share);

/* Whether OUT is a terminal that handles escape sequences: TERM is set, and not "dumb". */
bool is_smart_terminal(FILE *out);

/* Whether to use colours. WORD is "always", "never", or "auto": if OUT is such a terminal and
 * NO_COLOR is not set. Any other WORD ends the program with an error. */
bool parse_color(const char *word, FILE *out);

enum {
    NUMBER_MAX = 24 /* characters of a number as text, NUL included */
};

/* Writes VALUE to TEXT, which has NUMBER_MAX characters: in full or, if HUMAN, with three digits
 * and k, M, G, T, P, E (powers of 1000): "1.23G". */
void print_number(char *text, uint64_t value, bool human);

#endif
