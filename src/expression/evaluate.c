/* evaluate.c: values of expressions over a memory; see expression.h.
 *
 * An integer is kept as 64 bits, extended from the size of its type. A floating-point number is
 * rounded to its type after each operation.
 *
 * Each object is read with a call of its own. This is cheap enough. A search evaluates an
 * expression some hundred times, and after each single step, where the step costs more. */
#include "expression/expression.h"

#include <ctype.h>
#include <string.h>

enum {
    LONG_DOUBLE_BYTES = 10
};

struct value {
    uint64_t bits;
    long double real;
};

static bool value_of(const struct memory *memory, const struct node *node, struct value *value);

/* ---- conversions ---- */

static uint64_t extend(uint64_t bits, unsigned width, bool is_signed) {
    if (width >= 64)
        return bits;
    uint64_t mask = ((uint64_t)1 << width) - 1, sign = (uint64_t)1 << (width - 1);
    bits &= mask;
    return is_signed && bits & sign ? bits | ~mask : bits;
}

static long double rounded(long double real, uint64_t size) {
    return size == 4 ? (long double)(float)real : size == 8 ? (long double)(double)real : real;
}

/* Rounds towards 0. C does not define the result for a value that no integer has. */
static uint64_t truncated(long double real) {
    const long double half = 9223372036854775808.0L; /* 1 << 63 */
    if (real >= half && real < 2 * half)
        return (uint64_t)real;
    return real > -half && real < half ? (uint64_t)(int64_t)real : (uint64_t)1 << 63;
}

static bool is_true(const struct value *value, const struct type *type) {
    return type->kind == TYPE_FLOATING ? value->real != 0 : value->bits != 0;
}

static struct value convert(struct value value, const struct type *from, const struct type *to) {
    if (to->kind == TYPE_FLOATING) {
        if (from->kind != TYPE_FLOATING)
            value.real =
                from->is_signed ? (long double)(int64_t)value.bits : (long double)value.bits;
        value.real = rounded(value.real, to->size);
    } else if (to->is_boolean) {
        value.bits = is_true(&value, from);
    } else if (to->kind == TYPE_INTEGER) {
        if (from->kind == TYPE_FLOATING)
            value.bits = truncated(value.real);
        value.bits = extend(value.bits, 8 * (unsigned)to->size, to->is_signed);
    }
    return value;
}

/* ---- objects ---- */

static bool address_of(const struct memory *memory, const struct node *node, uint64_t *address) {
    struct value pointer;
    switch (node->kind) {
    case NODE_OBJECT:
        *address = node->number + memory->bias;
        return true;
    case NODE_FIELD:
        if (!address_of(memory, node->a, address))
            return false;
        *address += node->number;
        return true;
    default: /* NODE_TARGET */
        if (!value_of(memory, node->a, &pointer))
            return false;
        *address = pointer.bits;
        return true;
    }
}

static bool load_real(const struct memory *memory, uint64_t address, uint64_t size,
                      struct value *value) {
    union {
        float single;
        double twice;
        long double extended;
    } bytes = {.extended = 0};
    if (!memory->read(memory, address, &bytes, size == 16 ? LONG_DOUBLE_BYTES : size))
        return false;
    value->real = size == 4 ? bytes.single : size == 8 ? bytes.twice : bytes.extended;
    return true;
}

/* A bit field may need one byte more than its type has. */
static bool load_bits(const struct memory *memory, const struct node *node, uint64_t address,
                      struct value *value) {
    unsigned __int128 bytes = 0;
    if (!memory->read(memory, address, &bytes, (node->bit + node->bits + 7) / 8))
        return false;
    value->bits = extend((uint64_t)(bytes >> node->bit), node->bits, node->type.is_signed);
    return true;
}

static bool load(const struct memory *memory, const struct node *node, struct value *value) {
    uint64_t address;
    if (!address_of(memory, node, &address))
        return false;
    if (node->type.kind == TYPE_ARRAY) {
        value->bits = address;
        return true;
    }
    if (node->bits)
        return load_bits(memory, node, address, value);
    if (node->type.kind == TYPE_FLOATING)
        return load_real(memory, address, node->type.size, value);
    value->bits = 0;
    if (!memory->read(memory, address, &value->bits, node->type.size))
        return false;
    value->bits = extend(value->bits, 8 * (unsigned)node->type.size, node->type.is_signed);
    return true;
}

/* ---- operators ---- */

static bool compare(enum operation operation, bool less, bool equal, bool greater) {
    switch (operation) {
    case OPERATION_LESS:
        return less;
    case OPERATION_GREATER:
        return greater;
    case OPERATION_AT_MOST:
        return less || equal;
    case OPERATION_AT_LEAST:
        return greater || equal;
    case OPERATION_EQUAL:
        return equal;
    default: /* OPERATION_DIFFERENT; a NaN is not equal to anything */
        return !equal;
    }
}

/* Computes in the type itself. A result with more digits that is rounded later may be another
 * number. */
#define COMPUTE_IN(type)                                                                           \
    static long double compute_##type(enum operation operation, type a, type b) {                  \
        switch (operation) {                                                                       \
        case OPERATION_MULTIPLY:                                                                   \
            return a * b;                                                                          \
        case OPERATION_DIVIDE:                                                                     \
            return a / b;                                                                          \
        case OPERATION_ADD:                                                                        \
            return a + b;                                                                          \
        default:                                                                                   \
            return a - b;                                                                          \
        }                                                                                          \
    }
typedef long double extended;
COMPUTE_IN(float)
COMPUTE_IN(double)
COMPUTE_IN(extended)

static void compute_real(enum operation operation, uint64_t size, long double a, long double b,
                         struct value *value) {
    if (operation >= OPERATION_LESS && operation <= OPERATION_DIFFERENT)
        value->bits = compare(operation, a<b, a == b, a> b);
    else if (size == 4)
        value->real = compute_float(operation, (float)a, (float)b);
    else if (size == 8)
        value->real = compute_double(operation, (double)a, (double)b);
    else
        value->real = compute_extended(operation, a, b);
}

static bool divide(enum operation operation, uint64_t a, uint64_t b, bool is_signed,
                   uint64_t *result) {
    bool whole = operation == OPERATION_DIVIDE;
    if (b == 0)
        return false;
    if (!is_signed)
        *result = whole ? a / b : a % b;
    else if ((int64_t)b == -1) /* the least number divided by -1 would trap */
        *result = whole ? -a : 0;
    else
        *result = (uint64_t)(whole ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
    return true;
}

static uint64_t shift(enum operation operation, uint64_t a, uint64_t b, const struct type *type) {
    b &= 8 * type->size - 1; /* C does not define greater shifts; this is what the processor does */
    if (operation == OPERATION_SHIFT_LEFT)
        return a << b;
    return type->is_signed ? (uint64_t)((int64_t)a >> b) : a >> b;
}

static bool compute_integer(enum operation operation, uint64_t a, uint64_t b,
                            const struct type *type, struct value *value) {
    bool less = type->is_signed ? (int64_t)a < (int64_t)b : a < b;
    switch (operation) {
    case OPERATION_MULTIPLY:
        value->bits = a * b;
        break;
    case OPERATION_DIVIDE:
    case OPERATION_REMAINDER:
        if (!divide(operation, a, b, type->is_signed, &value->bits))
            return false;
        break;
    case OPERATION_ADD:
        value->bits = a + b;
        break;
    case OPERATION_SUBTRACT:
        value->bits = a - b;
        break;
    case OPERATION_SHIFT_LEFT:
    case OPERATION_SHIFT_RIGHT:
        value->bits = shift(operation, a, b, type);
        break;
    case OPERATION_AND:
        value->bits = a & b;
        break;
    case OPERATION_EXCLUSIVE:
        value->bits = a ^ b;
        break;
    case OPERATION_OR:
        value->bits = a | b;
        break;
    default:
        value->bits = compare(operation, less, a == b, !less && a != b);
    }
    return true;
}

/* && and ||: evaluates the right side only if the left side does not decide. */
static bool value_of_logical(const struct memory *memory, const struct node *node,
                             struct value *value) {
    struct value side;
    bool either = node->operation == OPERATION_EITHER;
    if (!value_of(memory, node->a, &side))
        return false;
    value->bits = is_true(&side, &node->a->type);
    if (value->bits == either)
        return true;
    if (!value_of(memory, node->b, &side))
        return false;
    value->bits = is_true(&side, &node->b->type);
    return true;
}

static bool value_of_binary(const struct memory *memory, const struct node *node,
                            struct value *value) {
    struct value a, b;
    const struct type *type = &node->operands;
    bool shifts =
        node->operation == OPERATION_SHIFT_LEFT || node->operation == OPERATION_SHIFT_RIGHT;
    if (node->operation == OPERATION_BOTH || node->operation == OPERATION_EITHER)
        return value_of_logical(memory, node, value);
    if (!value_of(memory, node->a, &a) || !value_of(memory, node->b, &b))
        return false;
    a = convert(a, &node->a->type, type);
    if (!shifts)
        b = convert(b, &node->b->type, type);
    if (type->kind == TYPE_FLOATING)
        compute_real(node->operation, type->size, a.real, b.real, value);
    else if (!compute_integer(node->operation, a.bits, b.bits, type, value))
        return false;
    *value = convert(*value, &node->type, &node->type);
    return true;
}

static bool value_of_unary(const struct memory *memory, const struct node *node,
                           struct value *value) {
    struct value a;
    if (!value_of(memory, node->a, &a))
        return false;
    if (node->operation == OPERATION_NOT) {
        value->bits = !is_true(&a, &node->a->type);
        return true;
    }
    a = convert(a, &node->a->type, &node->type);
    value->real = -a.real;
    value->bits = node->operation == OPERATION_NEGATE ? -a.bits : ~a.bits;
    *value = convert(*value, &node->type, &node->type);
    return true;
}

static bool value_of_pointers(const struct memory *memory, const struct node *node,
                              struct value *value) {
    struct value a, b;
    if (!value_of(memory, node->a, &a) || !value_of(memory, node->b, &b))
        return false;
    if (node->kind == NODE_DISTANCE)
        value->bits = (uint64_t)((int64_t)(a.bits - b.bits) / (int64_t)node->number);
    else if (node->operation == OPERATION_ADD)
        value->bits = a.bits + b.bits * node->number;
    else
        value->bits = a.bits - b.bits * node->number;
    return true;
}

static bool value_of(const struct memory *memory, const struct node *node, struct value *value) {
    struct value condition;
    *value = (struct value){0};
    switch (node->kind) {
    case NODE_NUMBER:
        *value = (struct value){.bits = node->number, .real = node->real};
        return true;
    case NODE_ADDRESS:
        return address_of(memory, node->a, &value->bits);
    case NODE_UNARY:
        return value_of_unary(memory, node, value);
    case NODE_BINARY:
        return value_of_binary(memory, node, value);
    case NODE_CAST:
        if (!value_of(memory, node->a, value))
            return false;
        *value = convert(*value, &node->a->type, &node->type);
        value->bits += value->bits ? node->number : 0; /* a null pointer stays one */
        return true;
    case NODE_OFFSET:
    case NODE_DISTANCE:
        return value_of_pointers(memory, node, value);
    case NODE_CONDITION:
        if (!value_of(memory, node->a, &condition))
            return false;
        const struct node *chosen = is_true(&condition, &node->a->type) ? node->b : node->c;
        if (!value_of(memory, chosen, value))
            return false;
        *value = convert(*value, &chosen->type, &node->operands);
        return true;
    default:
        return load(memory, node, value);
    }
}

/* ---- whole expressions ---- */

enum truth evaluate(const struct expression *expression, const struct memory *memory) {
    struct value value;
    if (!value_of(memory, expression->root, &value))
        return TRUTH_UNKNOWN;
    return is_true(&value, &expression->root->type) ? TRUTH_TRUE : TRUTH_FALSE;
}

const char *value_text(struct arena *arena, const struct node *node, const struct memory *memory) {
    struct value value;
    if (!value_of(memory, node, &value))
        return "?";
    if (node->type.kind == TYPE_FLOATING)
        return arena_print(arena, "%.*Lg", node->type.size == 4 ? 9 : 17, value.real);
    if (node->type.kind != TYPE_INTEGER)
        return arena_print(arena, "0x%llx", (unsigned long long)value.bits);
    const char *constant = constant_name(&node->type, (int64_t)value.bits);
    if (constant)
        return constant;
    if (node->type.size == 1 && value.bits < 128 && isprint((int)value.bits))
        return arena_print(arena, "%llu '%c'", (unsigned long long)value.bits, (int)value.bits);
    return node->type.is_signed ? arena_print(arena, "%lld", (long long)value.bits)
                                : arena_print(arena, "%llu", (unsigned long long)value.bits);
}

/* Whether the object is reached through a null pointer: with an offset it has an address all the
 * same. */
static bool is_behind_null(const struct memory *memory, const struct node *object) {
    struct value value;
    while (object->kind == NODE_FIELD)
        object = object->a;
    if (object->kind == NODE_OBJECT)
        return false;
    const struct node *pointer = object->a;
    while (pointer->kind == NODE_OFFSET || pointer->kind == NODE_CAST)
        pointer = pointer->a;
    return value_of(memory, pointer, &value) && value.bits < NULL_PAGE;
}

bool object_address(const struct node *object, const struct memory *memory, uint64_t *address) {
    return !is_behind_null(memory, object) && address_of(memory, object, address);
}
