/* json_reader.c: reads JSON piece by piece; see json_reader.h. */
#include "util/json_reader.h"

#include "util/buffer.h"

#include <string.h>

static void set_fault(struct json_reader *json, const char *fault) {
    if (!json->fault)
        json->fault = fault;
}

struct json_reader json_read(struct arena *arena, const char *text) {
    return (struct json_reader){.arena = arena, .next = text, .line = 1, .fresh = true};
}

/* Skips blanks. Returns the next character, or NUL after a fault. */
static char look(struct json_reader *json) {
    while (*json->next && strchr(" \t\r\n", *json->next))
        json->line += *json->next++ == '\n';
    return json->fault ? '\0' : *json->next;
}

static bool take(struct json_reader *json, char character) {
    if (look(json) != character || !character)
        return false;
    json->next++;
    return true;
}

static void expect(struct json_reader *json, char character) {
    if (!take(json, character))
        set_fault(json, arena_print(json->arena,
                                    *json->next ? "'%c' was expected"
                                                : "it ends too early: '%c' was expected",
                                    character));
}

/* ---- containers ---- */

/* Moves to the next member or element. Returns false if there is none. `fresh` says that the
 * opening bracket of the container is next: each value that is read clears it. */
static bool advance(struct json_reader *json, char open, char close) {
    bool first = json->fresh;
    if (first)
        expect(json, open);
    json->fresh = false;
    if (json->fault || take(json, close))
        return false;
    if (!first)
        expect(json, ',');
    return !json->fault;
}

static const char *read_text(struct json_reader *json);

const char *json_member(struct json_reader *json) {
    if (!advance(json, '{', '}'))
        return NULL;
    const char *key = read_text(json);
    expect(json, ':');
    json->fresh = true;
    return json->fault ? NULL : key;
}

bool json_element(struct json_reader *json) {
    json->fresh = advance(json, '[', ']');
    return json->fresh;
}

/* ---- values ---- */

static uint32_t read_hexadecimal(struct json_reader *json) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = *json->next ? strchr(digits, *json->next) : NULL;
        if (!digit) {
            set_fault(json, "it is no JSON: '\\u' needs four digits");
            return 0;
        }
        value = value << 4 | (uint32_t)((digit - digits) & 15);
        json->next++;
    }
    return value;
}

static void add_byte(struct buffer *out, uint32_t byte) {
    char character = (char)byte;
    buffer_add(out, &character, 1);
}

static void add_code_point(struct buffer *out, uint32_t point) {
    if (point < 0x80) {
        add_byte(out, point);
    } else if (point < 0x800) {
        add_byte(out, 0xc0 | point >> 6);
        add_byte(out, 0x80 | (point & 63));
    } else {
        add_byte(out, 0xe0 | point >> 12);
        add_byte(out, 0x80 | (point >> 6 & 63));
        add_byte(out, 0x80 | (point & 63));
    }
}

/* Reads an escape, from its backslash on. Does not combine surrogates: quipu's writer escapes no
 * code point above U+FFFF. */
static void read_escape(struct json_reader *json, struct buffer *out) {
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    json->next++;
    const char *name = *json->next ? strchr(names, *json->next) : NULL;
    if (name) {
        add_byte(out, (uint32_t)meant[name - names]);
        json->next++;
    } else if (*json->next == 'u') {
        json->next++;
        add_code_point(out, read_hexadecimal(json));
    } else {
        set_fault(json, "it is no JSON: no such escape");
    }
}

static const char *read_text(struct json_reader *json) {
    struct buffer out = {0};
    expect(json, '"');
    while (!json->fault && *json->next != '"') {
        if ((unsigned char)*json->next < 0x20)
            set_fault(json, *json->next ? "it is no JSON: a string goes beyond its line"
                                        : "it ends too early: in a string");
        else if (*json->next == '\\')
            read_escape(json, &out);
        else
            buffer_add(&out, json->next++, 1);
    }
    if (!json->fault)
        json->next++;
    const char *text =
        json->fault ? "" : arena_copy(json->arena, out.data ? out.data : "", out.count);
    buffer_release(&out);
    return text;
}

const char *json_string_value(struct json_reader *json) {
    json->fresh = false;
    return read_text(json);
}

uint64_t json_unsigned_value(struct json_reader *json) {
    uint64_t value = 0;
    char digit = look(json);
    json->fresh = false;
    if (digit < '0' || digit > '9')
        set_fault(json, "a count is no whole number");
    for (; !json->fault && *json->next >= '0' && *json->next <= '9'; json->next++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*json->next - '0'), &value))
            set_fault(json, "a count is too large");
    if (!json->fault && *json->next && strchr(".eE", *json->next))
        set_fault(json, "a count is no whole number");
    return json->fault ? 0 : value;
}

static void skip_word(struct json_reader *json) {
    size_t length = strspn(json->next, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
    json->next += length;
    if (!length)
        set_fault(json, *json->next ? "it is no JSON: a value was expected"
                                    : "it ends too early: a value was expected");
}

/* Counts brackets, but does not match them: the skipped value is not used. */
void json_skip(struct json_reader *json) {
    size_t depth = 0;
    json->fresh = false;
    do {
        char next = look(json);
        if (next == '{' || next == '[') {
            json->next++;
            depth++;
        } else if (depth && next && strchr("}],:", next)) {
            json->next++;
            depth -= next == '}' || next == ']';
        } else if (next == '"') {
            read_text(json);
        } else if (!json->fault) {
            skip_word(json);
        }
    } while (depth && !json->fault);
}

void json_finish(struct json_reader *json) {
    if (look(json))
        set_fault(json, "it is no JSON: something follows the end");
}
