/* style.c: colours on a terminal, and numbers for people; see style.h. */
#include "report/style.h"

#include "util/near.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *style_start(bool color, enum style style) {
    static const char *const starts[] = {
        [STYLE_PLAIN] = "",        [STYLE_TITLE] = "\033[1m",  [STYLE_HOT] = "\033[1;31m",
        [STYLE_WARM] = "\033[33m", [STYLE_NEVER] = "\033[31m", [STYLE_DIM] = "\033[2m",
    };
    return color ? starts[style] : "";
}

const char *style_end(bool color, enum style style) {
    return color && style != STYLE_PLAIN ? "\033[0m" : "";
}

enum style style_of_share(double share) {
    if (share >= 0.10)
        return STYLE_HOT;
    return share >= 0.01 ? STYLE_WARM : STYLE_PLAIN;
}

bool is_smart_terminal(FILE *out) {
    const char *kind = getenv("TERM");
    return isatty(fileno(out)) && kind && *kind && strcmp(kind, "dumb") != 0;
}

enum color_choice {
    COLOR_AUTO,
    COLOR_ALWAYS,
    COLOR_NEVER,
    COLOR_CHOICES
};

static const char *color_choice_at(size_t i) {
    static const char *const names[COLOR_CHOICES] = {
        [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
    return i < COLOR_CHOICES ? names[i] : NULL;
}

bool parse_color(const char *word, FILE *out) {
    size_t choice = choose_name("--color", "choice", word, color_choice_at);
    if (choice != COLOR_AUTO)
        return choice == COLOR_ALWAYS;
    const char *refused = getenv("NO_COLOR");
    return is_smart_terminal(out) && !(refused && *refused);
}

void print_number(char *text, uint64_t value, bool human) {
    static const char units[] = "kMGTPE";
    if (!human || value < 1000) {
        snprintf(text, NUMBER_MAX, "%" PRIu64, value);
        return;
    }
    double scaled = (double)value / 1000;
    size_t unit = 0;
    while (scaled >= 999.5 && unit + 2 < sizeof units) {
        scaled /= 1000;
        unit++;
    }
    int digits = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    snprintf(text, NUMBER_MAX, "%.*f%c", digits, scaled, units[unit]);
}
