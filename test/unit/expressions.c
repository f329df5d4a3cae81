// Expressions over a memory that is no process's: each has the value that the compiler gives it.
// flags: -Wno-sign-compare -Wno-parentheses -Wno-div-by-zero
#include "expression/expression.h"

#include <stdio.h>
#include <string.h>

static int i = -7, zero = 0;
static unsigned u = 4000000000u;
static long l = -5000000000;
static unsigned char c = 200;
static short s = -300;
static double d = 2.75;
static float f = -0.5f;

// Text, value, and what the compiler says of it.
#define CASE(text)                                                                                 \
    { #text, (text) != 0, (double)(text) }

static int failed;

static const struct {
    const char *name;
    const void *bytes;
    struct type type;
} given[] = {
    {"i", &i, {.kind = TYPE_INTEGER, .size = 4, .is_signed = true}},
    {"zero", &zero, {.kind = TYPE_INTEGER, .size = 4, .is_signed = true}},
    {"u", &u, {.kind = TYPE_INTEGER, .size = 4}},
    {"l", &l, {.kind = TYPE_INTEGER, .size = 8, .is_signed = true}},
    {"c", &c, {.kind = TYPE_INTEGER, .size = 1}},
    {"s", &s, {.kind = TYPE_INTEGER, .size = 2, .is_signed = true}},
    {"d", &d, {.kind = TYPE_FLOATING, .size = 8}},
    {"f", &f, {.kind = TYPE_FLOATING, .size = 4}},
};

enum {
    GIVEN = sizeof given / sizeof *given,
    FIRST = 0x1000, // address of the first one, as linked
    BIAS = 0x550000
};

static struct image images[GIVEN];

static void add_variable(struct variables *variables, const char *name, uint64_t address,
                         const struct type *type) {
    struct variable variable = {
        .name = name, .file = "", .external = true, .address = address, .type = *type};
    vector_push(variables->arena, &variables->all, variable);
}

// What NODE has in MEMORY; false: no value.
static enum truth ask(struct arena *arena, const struct variables *variables, const char *text,
                      const struct memory *memory) {
    struct expression expression;
    size_t where;
    const char *wrong = parse_expression(arena, variables, text, &expression, &where);
    if (!wrong)
        return evaluate(&expression, memory);
    printf("%s: %s at %zu\n", text, wrong, where);
    failed = 1;
    return TRUTH_UNKNOWN;
}

static void expect(struct arena *arena, const struct variables *variables, const char *text,
                   enum truth wanted, const struct memory *memory) {
    enum truth truth = ask(arena, variables, text, memory);
    if (truth == wanted)
        return;
    printf("%s: %d, not %d\n", text, truth, wanted);
    failed = 1;
}

static void check_values(struct arena *arena, const struct variables *variables,
                         const struct memory *memory) {
    const struct {
        const char *text;
        bool truth;
        double value;
    } cases[] = {
        CASE(i),
        CASE(zero),
        CASE(!zero),
        CASE(~i),
        CASE(-i),
        CASE(-u),
        CASE(-c),
        CASE(i + u),
        CASE(i < u),
        CASE(i > l),
        CASE(u > l),
        CASE(c + s),
        CASE(c * s),
        CASE(i / 2),
        CASE(i % 3),
        CASE(l / i),
        CASE(l % i),
        CASE(u / 3),
        CASE(i >> 1),
        CASE(u >> 31),
        CASE(c << 4),
        CASE(l >> 3),
        CASE(i & 0xff),
        CASE(i | 1),
        CASE(s ^ c),
        CASE(d * f),
        CASE(d + i),
        CASE(d > 2.5 && f < 0),
        CASE(f == -0.5),
        CASE(i == -7 || 1 / zero),
        CASE(zero && 1 / zero),
        CASE(c == 200 ? s : l),
        CASE(i <= -7 == 1),
        CASE((unsigned char)s),
        CASE((int)d),
        CASE((short)u),
        CASE((double)i / 2),
        CASE(zero + 1 + 2 * 3 - 4 / 2 % 3),
        CASE(zero + 0x10 + 010 + 'a'),
        CASE(zero + 4294967295u + 1),
        CASE(zero + 2147483647L + 1),
        CASE(i - -3),
        CASE(i != i),
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char text[200];
        expect(arena, variables, cases[n].text, cases[n].truth ? TRUTH_TRUE : TRUTH_FALSE, memory);
        snprintf(text, sizeof text, "(%s) == (%.17g)", cases[n].text, cases[n].value);
        expect(arena, variables, text, TRUTH_TRUE, memory);
    }
}

int main(void) {
    struct arena arena = {0};
    struct variables variables = {.arena = &arena};
    struct binary *self; // whose types casts name
    if (binary_open(&arena, "/proc/self/exe", &self))
        return 1;
    variables.binary = self;
    for (size_t n = 0; n < GIVEN; n++) {
        add_variable(&variables, given[n].name, FIRST + 16 * n, &given[n].type);
        images[n] = (struct image){FIRST + 16 * n, given[n].type.size, given[n].bytes};
    }
    struct image_memory memory = image_memory(images, GIVEN, BIAS, NULL);
    check_values(&arena, &variables, &memory.memory);
    expect(&arena, &variables, "1 / zero", TRUTH_UNKNOWN, &memory.memory);
    expect(&arena, &variables, "i % zero == 1", TRUTH_UNKNOWN, &memory.memory);

    // What the first memory has not is the second one's; and where nobody has it there is no value.
    struct image_memory behind = image_memory(images + 1, GIVEN - 1, BIAS, NULL);
    struct image_memory first = image_memory(images, 1, BIAS, &behind.memory);
    expect(&arena, &variables, "i == -7 && c == 200", TRUTH_TRUE, &first.memory);
    expect(&arena, &variables, "i == -7", TRUTH_UNKNOWN, &behind.memory);
    binary_close(self);
    arena_release(&arena);
    return failed;
}
