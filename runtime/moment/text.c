/* text.c: moments as text, for the program itself; src/symbols/moment_name.h describes the form.
 *
 * The names are those of functions. A build with ticks has them in its tables (format/event.h).
 * Debug information is not read here, so there are no lines. */
#include "runtime/core/text.h"
#include "format/data_file.h"
#include "format/event.h"
#include "runtime/event/event.h"

enum {
    BUILD_DIGITS = 4 /* bytes of the build id */
};

static const char *range_name(const struct quipu_range *range) {
    return range->name ? (const char *)&range->name + range->name : "";
}

static void add_hexadecimal(struct text *text, uint64_t value, int digits) {
    for (int shift = 60; shift >= 0; shift -= 4)
        if (shift < 4 * digits || value >> shift)
            text_bytes(text, &"0123456789abcdef"[value >> shift & 15], 1);
}

uint64_t quipu_runtime_print(const struct quipu_moment *moment, char *bytes, uint64_t size) {
    struct text text = {bytes, size, 0, false};
    const struct quipu_range *range = quipu_find_range(moment->address);
    if (size == 0)
        return 0;
    *bytes = '\0';
    text_add(&text, range ? range_name(range) : "");
    text_add(&text, range ? "+0x" : "0x");
    add_hexadecimal(&text, moment->address - (range ? range_start(range) : 0), 1);
    text_add(&text, "@");
    text_number(&text, moment->ticks);
    text_add(&text, "/");
    text_number(&text, moment->thread);
    const struct quipu_module *module = &quipu_state.module;
    if (module->build_id_size >= BUILD_DIGITS)
        text_add(&text, "~");
    for (int i = 0; i < BUILD_DIGITS && module->build_id_size >= BUILD_DIGITS; i++)
        add_hexadecimal(&text, module->build_id[i], 2);
    return text.cut ? 0 : text.length;
}

/* Reads a number at *TEXT. BASE 16 requires "0x" before it. Returns false if there is none. */
static bool take_number(const char **text, uint64_t base, uint64_t *value) {
    const char *next = *text;
    if (base == 16 && (*next++ != '0' || *next++ != 'x'))
        return false;
    const char *first = next;
    for (*value = 0;; next++) {
        char c = *next;
        uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
                                                : 16;
        if (digit >= base)
            break;
        *value = *value * base + digit;
    }
    *text = next;
    return next > first;
}

/* Whether TEXT begins with the function's name and '+'. */
static bool is_name(const char *name, const char *text) {
    while (*name && *name == *text)
        name++, text++;
    return *name == '\0' && *text == '+';
}

static bool is_build(const char *text) {
    const struct quipu_module *module = &quipu_state.module;
    for (int i = 0; text[2 * i]; i++) {
        char digits[3];
        struct text expected = {digits, sizeof digits, 0, false};
        digits[0] = '\0';
        if (i >= (int)module->build_id_size)
            return false;
        add_hexadecimal(&expected, module->build_id[i], 2);
        if (digits[0] != text[2 * i] || digits[1] != text[2 * i + 1])
            return false;
    }
    return true;
}

int quipu_runtime_parse(const char *text, struct quipu_moment *moment) {
    uint64_t offset, thread = 1;
    uint64_t i = 0;
    while (i < range_count() && !is_name(range_name(&quipu_ranges_begin[i]), text))
        i++;
    if (i == range_count())
        return -1;
    const struct quipu_range *range = &quipu_ranges_begin[i];
    text += text_length(range_name(range)) + 1;
    if (!take_number(&text, 16, &offset) || *text++ != '@' ||
        !take_number(&text, 10, &moment->ticks))
        return -1;
    if (*text == '/' && (text++, !take_number(&text, 10, &thread)))
        return -1;
    if ((*text == '~' && !is_build(text + 1)) || (*text && *text != '~') || offset >= range->size)
        return -1;
    moment->address = range_start(range) + offset;
    moment->thread = (uint32_t)thread;
    moment->instrumented = 1;
    return 0;
}
