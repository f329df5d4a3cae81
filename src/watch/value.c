/* value.c: an object's bytes as text; see shape.h. */
#include "watch/shape.h"

#include "util/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_MAX = 4, /* elements or fields of one object */
    TEXT_MAX = 32, /* characters of a string */
    DEPTH_MAX = 3, /* nested objects */
};

/* A value, and the value before or after it, which is shown beside it. */
struct values {
    const struct known_bytes *own, *other;
};

static void print_object(struct buffer *text, const struct part *part, const struct values *values,
                         unsigned depth);

/* ---- numbers ---- */

void print_unsigned(struct buffer *text, uint64_t number) {
    char digits[24], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    buffer_add(text, at, (size_t)(digits + sizeof digits - at));
}

void print_base16(struct buffer *text, uint64_t number) {
    char digits[24], *at = digits + sizeof digits;
    do
        *--at = "0123456789abcdef"[number % 16];
    while (number /= 16);
    *--at = 'x';
    *--at = '0';
    buffer_add(text, at, (size_t)(digits + sizeof digits - at));
}

void print_integer(struct buffer *text, uint64_t bits, bool is_signed) {
    if (is_signed && (int64_t)bits < 0) {
        buffer_add(text, "-", 1);
        bits = -bits;
    }
    print_unsigned(text, bits);
}

static void print_character(struct buffer *text, uint64_t bits) {
    char shown[] = {'\'', (char)bits, '\'', ' ', '('};
    if (!isprint((int)(bits & 0xff)) || bits > 126) {
        print_integer(text, bits, true);
        return;
    }
    buffer_add(text, shown, sizeof shown);
    print_unsigned(text, bits);
    buffer_add(text, ")", 1);
}

/* Appends the fewest digits that give the same number. */
static void print_floating(struct buffer *text, const uint8_t *bytes, uint64_t size) {
    union {
        float single;
        double twice;
        long double extended;
    } number = {.extended = 0};
    char shown[64];
    memcpy(&number, bytes, size == 16 ? 10 : size);
    if (size == 4) {
        snprintf(shown, sizeof shown, "%.6g", (double)number.single);
        if (strtof(shown, NULL) != number.single)
            snprintf(shown, sizeof shown, "%.9g", (double)number.single);
    } else if (size == 8) {
        snprintf(shown, sizeof shown, "%.15g", number.twice);
        if (strtod(shown, NULL) != number.twice)
            snprintf(shown, sizeof shown, "%.17g", number.twice);
    } else {
        snprintf(shown, sizeof shown, "%.21Lg", number.extended);
    }
    buffer_text(text, shown);
}

static const char *constant_of(const struct shape *shape, int64_t value) {
    for (size_t i = 0; i < shape->constants.count; i++)
        if (shape->constants.data[i].value == value)
            return shape->constants.data[i].name;
    return NULL;
}

static uint64_t extend(uint64_t bits, unsigned width, bool is_signed) {
    unsigned unused = 64 - width;
    return is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
}

static void print_scalar(struct buffer *text, const struct part *part, uint64_t bits) {
    const struct shape *shape = part->shape;
    const char *constant = constant_of(shape, (int64_t)bits);
    if (shape->kind == TYPE_POINTER)
        print_base16(text, bits);
    else if (constant)
        buffer_text(text, constant);
    else if (shape->look == LOOK_CHARACTER)
        print_character(text, bits);
    else if (shape->look == LOOK_TRUTH && bits < 2)
        buffer_text(text, bits ? "true" : "false");
    else if (shape->look == LOOK_BYTE)
        print_base16(text, bits);
    else
        print_integer(text, bits, shape->is_signed);
}

/* ---- objects ---- */

const uint8_t *find_bytes(const struct known_bytes *bytes, uint64_t offset, uint64_t size) {
    uint64_t at = offset - bytes->begin;
    bool inside = offset >= bytes->begin && at <= bytes->count && size <= bytes->count - at;
    return inside ? bytes->bytes + at : NULL;
}

enum {
    CHARACTER_MAX = 20 /* four bytes in base 8 */
};

/* Returns how many of COUNT bytes are one character of a string, and its text in C. 0: the first
 * byte is no character. */
static uint64_t read_character(const uint8_t *bytes, uint64_t count, char text[CHARACTER_MAX]) {
    static const char escapes[] = "abtnvfr"; /* from 7 to 13 */
    char few[5] = "";
    memcpy(few, bytes, count < 4 ? count : 4);
    uint64_t length = utf8_length(few);
    if (*bytes >= 7 && *bytes <= 13)
        snprintf(text, CHARACTER_MAX, "\\%c", escapes[*bytes - 7]);
    else if (*bytes == 27)
        snprintf(text, CHARACTER_MAX, "\\033");
    else if (length > 1 && !safe_length(few))
        for (uint64_t i = 0; i < length; i++)
            snprintf(text + 4 * i, 5, "\\%03o", bytes[i]);
    else if (length > 1 || isprint(*bytes))
        snprintf(text, CHARACTER_MAX, "%s%.*s", *bytes == '"' || *bytes == '\\' ? "\\" : "",
                 (int)length, few);
    else
        return 0;
    return length;
}

/* Whether the bytes are characters up to a 0, or all of them. */
static bool is_string(const uint8_t *bytes, uint64_t count) {
    char text[CHARACTER_MAX];
    uint64_t i = 0, length;
    while (i < count && (length = read_character(bytes + i, count - i, text)))
        i += length;
    return i == count || !bytes[i];
}

static void print_string(struct buffer *text, const uint8_t *bytes, uint64_t count) {
    char character[CHARACTER_MAX];
    uint64_t i = 0, length;
    buffer_add(text, "\"", 1);
    while (i < count && i < TEXT_MAX &&
           (length = read_character(bytes + i, count - i, character))) {
        buffer_text(text, character);
        i += length;
    }
    buffer_text(text, i < count && bytes[i] ? "\"..." : "\"");
}

/* ---- choosing the members to show ---- */

static bool is_known(const struct values *values, const struct part *part) {
    uint64_t size = part->bits ? (part->bit + part->bits + 7) / 8 : part->shape->size;
    return find_bytes(values->own, part->offset, size);
}

/* Whether both values are known there, and differ. */
static bool differs(const struct values *values, const struct part *part) {
    uint64_t size = part->bits ? (part->bit + part->bits + 7) / 8 : part->shape->size;
    const uint8_t *own = find_bytes(values->own, part->offset, size);
    const uint8_t *other = find_bytes(values->other, part->offset, size);
    return own && other && memcmp(own, other, size) != 0;
}

static bool is_same(const struct values *values, const struct part *part) {
    return !differs(values, part);
}

typedef bool (*part_test)(const struct values *values, const struct part *part);

static struct part element_of(const struct part *first, uint64_t index) {
    return (struct part){.shape = first->shape,
                         .offset = first->offset + index * first->shape->size};
}

static struct part field_of(const struct part *record, uint64_t index) {
    const struct shape_field *field = &record->shape->fields.data[index];
    return (struct part){.shape = field->shape,
                         .offset = record->offset + field->offset,
                         .bit = field->bit,
                         .bits = field->bits};
}

/* The elements or fields of an object. OF returns one of them. */
struct members {
    struct part (*of)(const struct part *whole, uint64_t index);
    const struct part *whole;
    uint64_t first, count; /* if none is chosen, FIRST and the next ones are shown */
    uint64_t end;          /* from there on none is known */
};

static bool has_member(const struct members *members, const struct values *values, part_test test,
                       uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; i++) {
        struct part member = members->of(members->whole, i);
        if (test(values, &member))
            return true;
    }
    return false;
}

/* Returns the test that chooses members, or NULL if the first ones are shown. */
static part_test choose(const struct members *members, const struct values *values) {
    uint64_t shown = members->first + SHOWN_MAX, end = members->end;
    if (shown >= end)
        return NULL;
    bool hides = has_member(members, values, differs, shown, end);
    if (hides && has_member(members, values, is_same, members->first, shown))
        return differs;
    return !has_member(members, values, is_known, members->first, shown) &&
                   has_member(members, values, is_known, shown, end)
               ? is_known
               : NULL;
}

/* "{.name = 1, ...}" */
static void print_named(struct buffer *text, const struct members *members,
                        const struct values *values, part_test test, unsigned depth) {
    const struct shape_field *fields = members->whole->shape->fields.data;
    unsigned shown = 0;
    for (uint64_t i = members->first; i < members->end && shown < SHOWN_MAX; i++) {
        struct part member = members->of(members->whole, i);
        if (!test(values, &member))
            continue;
        buffer_text(text, shown++ ? ", " : "{");
        if (fields[i].name && *fields[i].name)
            buffer_print(text, ".%s = ", fields[i].name);
        print_object(text, &member, values, depth + 1);
    }
    buffer_text(text, ", ...}");
}

/* Returns the first member that passes TEST. At least one does. */
static uint64_t first_chosen(const struct members *members, const struct values *values,
                             part_test test) {
    uint64_t i = members->first;
    while (!has_member(members, values, test, i, i + 1))
        i++;
    return i;
}

static void print_members(struct buffer *text, const struct members *members,
                          const struct values *values, unsigned depth) {
    uint64_t first = members->first;
    part_test test = choose(members, values);
    if (test && members->of == field_of) {
        print_named(text, members, values, test, depth);
        return;
    }
    if (test)
        first = first_chosen(members, values, test);
    buffer_text(text, first ? "{..., " : "{");
    for (uint64_t i = first; i < members->count && i < first + SHOWN_MAX; i++) {
        struct part one = members->of(members->whole, i);
        buffer_text(text, i > first ? ", " : "");
        print_object(text, &one, values, depth + 1);
    }
    buffer_text(text, members->count - first > SHOWN_MAX ? ", ...}" : "}");
}

/* Returns the index of the first of COUNT elements that is known, or 0 if none is. */
static uint64_t first_known(const struct part *part, uint64_t count,
                            const struct known_bytes *bytes) {
    uint64_t size = part->shape->size;
    if (bytes->begin <= part->offset || !size)
        return 0;
    uint64_t first = (bytes->begin - part->offset + size - 1) / size;
    return first < count ? first : 0;
}

/* Returns how many of COUNT elements there are up to the last known one. */
static uint64_t last_known(const struct part *part, uint64_t count,
                           const struct known_bytes *bytes) {
    uint64_t size = part->shape->size, end = bytes->begin + bytes->count;
    if (!size || end <= part->offset)
        return 0;
    return (end - part->offset) / size < count ? (end - part->offset) / size : count;
}

static void print_elements(struct buffer *text, const struct part *part, uint64_t count,
                           const struct values *values, unsigned depth) {
    const uint8_t *found = find_bytes(values->own, part->offset, count);
    if (part->shape->look == LOOK_CHARACTER && found && is_string(found, count)) {
        print_string(text, found, count);
        return;
    }
    struct members members = {element_of, part, first_known(part, count, values->own), count,
                              last_known(part, count, values->own)};
    print_members(text, &members, values, depth);
}

static void print_record(struct buffer *text, const struct part *part, const struct values *values,
                         unsigned depth) {
    struct members members = {field_of, part, 0, part->shape->fields.count,
                              part->shape->fields.count};
    print_members(text, &members, values, depth);
}

/* Appends a number of a type that expressions cannot compute with, such as __int128. */
static void print_wide(struct buffer *text, unsigned __int128 bits) {
    uint64_t high = (uint64_t)(bits >> 64);
    if (high)
        buffer_print(text, "0x%llx%016llx", (unsigned long long)high, (unsigned long long)bits);
    else
        print_base16(text, (uint64_t)bits);
}

static void print_complex(struct buffer *text, const uint8_t *bytes, uint64_t size) {
    print_floating(text, bytes, size / 2);
    buffer_text(text, " + ");
    print_floating(text, bytes + size / 2, size / 2);
    buffer_text(text, "i");
}

static void print_single(struct buffer *text, const struct part *part,
                         const struct known_bytes *bytes) {
    const struct shape *shape = part->shape;
    uint64_t size = part->bits ? (part->bit + part->bits + 7) / 8 : shape->size;
    const uint8_t *found = size ? find_bytes(bytes, part->offset, size) : NULL;
    unsigned __int128 bits = 0;
    if (found && shape->look == LOOK_COMPLEX && (size == 8 || size == 16 || size == 32)) {
        print_complex(text, found, size);
    } else if (!found || size > sizeof bits) {
        buffer_add(text, "?", 1);
    } else if (shape->kind == TYPE_NONE) {
        memcpy(&bits, found, size);
        print_wide(text, bits);
    } else if (shape->kind == TYPE_FLOATING) {
        print_floating(text, found, size);
    } else {
        memcpy(&bits, found, size);
        print_scalar(text, part,
                     extend((uint64_t)(bits >> part->bit),
                            part->bits ? part->bits : 8 * (unsigned)size, shape->is_signed));
    }
}

static void print_object(struct buffer *text, const struct part *part, const struct values *values,
                         unsigned depth) {
    const struct shape *shape = part->shape;
    bool holds = shape->kind == TYPE_ARRAY || shape->kind == TYPE_RECORD;
    struct part first = {.shape = shape->element, .offset = part->offset};
    if (holds && depth >= DEPTH_MAX)
        buffer_text(text, "{...}");
    else if (shape->kind == TYPE_ARRAY)
        print_elements(text, &first, shape->count, values, depth);
    else if (shape->kind == TYPE_RECORD)
        print_record(text, part, values, depth);
    else
        print_single(text, part, values->own);
}

/* Appends the values of PART's chosen fields, or their types if VALUES is NULL. */
static void print_chosen(struct buffer *text, const struct part *part,
                         const struct values *values) {
    const char *between = "{";
    for (size_t i = 0; i < 8 * sizeof part->chosen; i++) {
        if (!(part->chosen >> i & 1))
            continue;
        struct part field = field_of(part, part->chosen_from + i);
        buffer_text(text, between);
        if (values)
            print_object(text, &field, values, 1);
        else
            buffer_text(text, field.shape->name);
        between = ", ";
    }
    buffer_text(text, "}");
}

void print_type(struct buffer *text, const struct part *part) {
    if (part->chosen) {
        print_chosen(text, part, NULL);
        return;
    }
    buffer_text(text, part->shape->name);
    if (part->count)
        buffer_print(text, "[%llu]", (unsigned long long)part->count);
}

void print_part(struct buffer *text, const struct part *part, const struct known_bytes *bytes,
                const struct known_bytes *other) {
    const struct values values = {bytes, other};
    if (part->chosen)
        print_chosen(text, part, &values);
    else if (part->count)
        print_elements(text, part, part->count, &values, 0);
    else
        print_object(text, part, &values, 0);
}
