/* style.h: colours on a terminal, and numbers for human eyes. */
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
    STYLE_HOT,   /* much of the whole */
    STYLE_WARM,
    STYLE_NEVER, /* never executed */
    STYLE_DIM,   /* beside the point: padding, source between instructions */
};

/* The escape sequence that starts STYLE, and the one that ends any; "" without COLOR. */
const char *style_start(bool color, enum style style);
const char *style_end(bool color, enum style style);

/* The style for a row that has that SHARE of the whole, from 0 to 1. */
enum style style_of_share(double share);

/* Whether OUT is a terminal that knows escape sequences: TERM is set, and not "dumb". */
bool is_smart_terminal(FILE *out);

/* Decides on "auto", "always" or "never"; auto: where OUT is such a terminal, NO_COLOR is not set.
 * Ends the program with an error on any other WORD. */
bool parse_color(const char *word, FILE *out);

enum {
    NUMBER_MAX = 24 /* characters of a number as text, NUL included */
};

/* Writes VALUE into TEXT of NUMBER_MAX characters: in full, or for HUMAN eyes with three digits and
 * k, M, G, T, P, E (powers of 1000): "1.23G". */
void print_number(char *text, uint64_t value, bool human);

#endif
