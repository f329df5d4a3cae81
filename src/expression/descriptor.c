/* descriptor.c: elements of Fortran's allocatable, pointer and (:) arrays; see expression.h.
 *
 * The variable of such an array is a descriptor. It contains the elements' address, the bounds and
 * the strides. DWARF has expressions that read them from the descriptor (DWARF 5, 5.18.1). These
 * expressions become nodes over the descriptor's address. So it is known on which memory an
 * element's address depends, and that memory can be watched, too.
 *
 * The elements of an allocatable array lie next to each other in the order of the first index, so
 * its stride is not read. An array of structures is an exception: with `class`, an element may be
 * longer than the declared type.
 *
 * Not perfect: DWARF operators that gfortran does not use here are not supported. An index is not
 * compared with the bounds, because that would read one more word. The amount of memory that is
 * read for an element grows fast with the number of nested descriptors. */
#include "expression/expression.h"

#include <dwarf.h>

enum {
    STACK_MAX = 8,
    RANK_MAX = 15 /* Fortran's */
};

static const struct type word_type = {.kind = TYPE_INTEGER, .size = 8, .is_signed = true};

struct stack {
    struct tree *tree;
    struct node *object; /* the descriptor's address */
    struct node *values[STACK_MAX];
    unsigned count;
};

static struct node *make_word(struct tree *tree, uint64_t number) {
    return make_number(tree, number, 8, true);
}

static bool push(struct stack *stack, struct node *value) {
    if (stack->count == STACK_MAX || !value)
        return false;
    stack->values[stack->count++] = value;
    return true;
}

static struct node *pop(struct stack *stack) {
    return stack->count ? stack->values[--stack->count] : NULL;
}

static bool apply_binary(struct stack *stack, enum operation operation) {
    struct node *right = pop(stack), *left = pop(stack);
    return left && right && push(stack, make_binary(stack->tree, operation, left, right));
}

static bool apply_to_one(struct stack *stack, const Dwarf_Op *op) {
    struct node *operand = pop(stack);
    if (!operand)
        return false;
    if (op->atom == DW_OP_deref)
        return push(stack, make_load(stack->tree, &word_type, operand));
    return push(stack, make_binary(stack->tree, OPERATION_ADD, operand,
                                   make_word(stack->tree, op->number)));
}

static bool apply(struct stack *stack, const Dwarf_Op *op) {
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        return push(stack, make_word(stack->tree, op->atom - DW_OP_lit0));
    switch (op->atom) {
    case DW_OP_push_object_address:
        return push(stack, stack->object);
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_constu:
    case DW_OP_consts:
        return push(stack, make_word(stack->tree, op->number));
    case DW_OP_deref:
    case DW_OP_plus_uconst:
        return apply_to_one(stack, op);
    case DW_OP_plus:
        return apply_binary(stack, OPERATION_ADD);
    case DW_OP_minus:
        return apply_binary(stack, OPERATION_SUBTRACT);
    case DW_OP_mul:
        return apply_binary(stack, OPERATION_MULTIPLY);
    default:
        return false;
    }
}

/* Returns the attribute NAME of DIE: a number, or an expression over OBJECT. Returns NULL if there
 * is none, or if it is not supported. */
static struct node *read_attribute(struct tree *tree, Dwarf_Die *die, unsigned name,
                                   struct node *object) {
    struct stack stack = {.tree = tree, .object = object};
    Dwarf_Attribute attribute;
    uint64_t number;
    Dwarf_Op *ops;
    size_t count;
    if (attribute_word(die, name, &number))
        return make_word(tree, number);
    if (!dwarf_attr(die, name, &attribute) || dwarf_getlocation(&attribute, &ops, &count))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!apply(&stack, &ops[i]))
            return NULL;
    return stack.count == 1 ? stack.values[0] : NULL;
}

bool is_contiguous(const struct tree *tree, const struct type *type) {
    Dwarf_Die die = type->die;
    return dwarf_hasattr(&die, DW_AT_allocated) && type_of(tree->binary, &die).kind != TYPE_RECORD;
}

/* Sets RANGES to the dimensions, in Fortran's order. Returns their number. */
static unsigned find_ranges(Dwarf_Die *array, Dwarf_Die ranges[]) {
    unsigned count = 0;
    Dwarf_Die child;
    if (dwarf_child(array, &child) == 0)
        do
            if (dwarf_tag(&child) == DW_TAG_subrange_type && count < RANK_MAX)
                ranges[count++] = child;
        while (dwarf_siblingof(&child, &child) == 0);
    return count;
}

/* Returns the distance in bytes from the first index of dimension RANGE to INDEX. SIZE: of an
 * element, if it is the stride; 0: the descriptor contains the stride. */
static struct node *make_distance_in(struct tree *tree, Dwarf_Die *range, struct node *object,
                                     struct node *index, uint64_t size) {
    struct node *lower = dwarf_hasattr(range, DW_AT_lower_bound)
                             ? read_attribute(tree, range, DW_AT_lower_bound, object)
                             : make_word(tree, 1);
    struct node *stride =
        size ? make_word(tree, size) : read_attribute(tree, range, DW_AT_byte_stride, object);
    if (!lower || !stride)
        return NULL;
    struct node *distance = make_binary(tree, OPERATION_SUBTRACT, index, lower);
    return distance ? make_binary(tree, OPERATION_MULTIPLY, distance, stride) : NULL;
}

struct node *make_described_element(struct tree *tree, struct node *array,
                                    struct node *const *indices) {
    Dwarf_Die ranges[RANK_MAX], die = array->type.die;
    unsigned count = find_ranges(&die, ranges);
    struct type element = type_of(tree->binary, &die);
    struct node *address = make_address(tree, array);
    struct node *object = address ? make_cast(tree, &word_type, address) : NULL;
    struct node *place = object ? read_attribute(tree, &die, DW_AT_data_location, object) : NULL;
    struct node *begin = place;
    for (unsigned i = 0; place && i < count; i++) {
        uint64_t size = i == 0 && is_contiguous(tree, &array->type) ? element.size : 0;
        struct node *distance = make_distance_in(tree, &ranges[i], object, indices[i], size);
        place = distance ? make_binary(tree, OPERATION_ADD, place, distance) : NULL;
    }
    if (place) /* while the array has no memory, an element's address is 0 */
        place = make_condition(tree, begin, place, make_word(tree, 0));
    if (place)
        return make_load(tree, &element, place);
    if (!tree->wrong) {
        tree->wrong = "its descriptor is of a kind that is not understood";
        tree->where = array->begin;
    }
    return NULL;
}
