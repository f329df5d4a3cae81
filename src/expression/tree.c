/* tree.c: nodes of expressions, with the types that C gives them; see expression.h.
 *
 * ISO C 2011, 6.3.1 (conversions) and 6.5. Integers in an expression have 4 or 8 bytes. */
#include "expression/expression.h"
#include "symbols/spelling.h"
#include "util/near.h"

#include <dwarf.h>
#include <string.h>

static struct node *refuse(struct tree *tree, size_t where, const char *wrong) {
    if (!tree->wrong) {
        tree->wrong = wrong;
        tree->where = where;
    }
    return NULL;
}

static const char *source_of(struct tree *tree, const struct node *node) {
    return arena_copy(tree->arena, tree->text + node->begin, node->end - node->begin);
}

static struct node *make_node(struct tree *tree, enum node_kind kind, const struct type *type) {
    struct node *node = ARENA_NEW(tree->arena, struct node);
    node->kind = (uint8_t)kind;
    node->type = *type;
    return node;
}

static struct type integer_type(uint64_t size, bool is_signed) {
    return (struct type){.kind = TYPE_INTEGER, .size = size, .is_signed = is_signed};
}

static const struct type the_int = {.kind = TYPE_INTEGER, .size = 4, .is_signed = true};

bool is_object(const struct node *node) {
    return node->kind == NODE_OBJECT || node->kind == NODE_TARGET || node->kind == NODE_FIELD;
}

struct node *make_load(struct tree *tree, const struct type *type, struct node *address) {
    struct node *node = make_node(tree, NODE_TARGET, type);
    node->a = address;
    return node;
}

const char *described_array(struct tree *tree, const struct node *array) {
    return arena_print(
        tree->arena,
        "where the elements of '%s' are tells its descriptor, and how many: name one "
        "of them",
        source_of(tree, array));
}

static bool is_integer(const struct node *node) {
    return node->type.kind == TYPE_INTEGER;
}

static bool is_number(const struct node *node) {
    return node->type.kind == TYPE_INTEGER || node->type.kind == TYPE_FLOATING;
}

/* The value of an array is the address of its first element. */
static bool is_pointer(const struct node *node) {
    return node->type.kind == TYPE_POINTER || node->type.kind == TYPE_ARRAY;
}

bool check_scalar(struct tree *tree, const struct node *node) {
    if (is_number(node) || is_pointer(node))
        return true;
    const char *text = source_of(tree, node);
    refuse(tree, node->begin,
           node->type.is_described ? described_array(tree, node)
           : node->type.kind == TYPE_RECORD
               ? arena_print(tree->arena, "'%s' is a structure; name one of its members", text)
               : arena_print(tree->arena, "'%s' has a type that no value is known of", text));
    return false;
}

struct node *make_number(struct tree *tree, uint64_t number, uint64_t size, bool is_signed) {
    struct type type = integer_type(size, is_signed);
    struct node *node = make_node(tree, NODE_NUMBER, &type);
    node->number = number;
    return node;
}

struct node *make_real(struct tree *tree, long double real, uint64_t size) {
    struct type type = {.kind = TYPE_FLOATING, .size = size};
    struct node *node = make_node(tree, NODE_NUMBER, &type);
    node->real = real;
    return node;
}

/* Returns the target of a reference, or NODE itself if it is no reference. */
static struct node *follow(struct tree *tree, struct node *node) {
    if (node->type.kind != TYPE_POINTER || !node->type.is_reference)
        return node;
    struct type type = target_of(tree->binary, &node->type);
    struct node *target = make_node(tree, NODE_TARGET, &type);
    target->a = node;
    return target;
}

struct node *make_object(struct tree *tree, uint64_t address, const struct type *type) {
    struct node *node = make_node(tree, NODE_OBJECT, type);
    node->number = address;
    return follow(tree, node);
}

struct node *make_target(struct tree *tree, struct node *pointer) {
    if (pointer->kind == NODE_ADDRESS)
        return pointer->a;
    if (!is_pointer(pointer))
        return refuse(tree, pointer->begin,
                      arena_print(tree->arena, "'%s' is no pointer", source_of(tree, pointer)));
    struct type type = target_of(tree->binary, &pointer->type);
    struct node *node = make_node(tree, NODE_TARGET, &type);
    node->a = pointer;
    return follow(tree, node);
}

static void offer_field(void *near_names, const char *name, const struct field *field) {
    (void)field;
    offer_name(near_names, name);
}

/* Returns the last "::" of NAME outside of template arguments, or NULL. */
static const char *last_colons(const char *name) {
    const char *found = NULL;
    for (size_t depth = 0; *name; name++) {
        depth += *name == '<';
        depth -= depth && *name == '>';
        if (!depth && strncmp(name, "::", 2) == 0)
            found = name;
    }
    return found;
}

/* Makes a NODE_FIELD for FIELD of RECORD. */
static struct node *node_of_field(struct tree *tree, struct node *record,
                                  const struct field *field) {
    struct node *node = make_node(tree, NODE_FIELD, &field->type);
    node->a = record;
    node->number = field->offset;
    node->bit = field->bit;
    node->bits = field->bits;
    node->begin = record->begin;
    node->end = record->end;
    return node;
}

/* Returns RECORD as an object of its base CLASS, whose name may have namespaces in front. Returns
 * NULL and sets the error if there is no such base. */
static struct node *make_base(struct tree *tree, struct node *record, const char *class,
                              size_t where) {
    const char *colons = last_colons(class),
               *name = one_spelling(tree->arena, colons ? colons + 2 : class);
    struct type type = record->type;
    struct field field;
    const char *own = dwarf_diename(&type.die);
    if (own && strcmp(one_spelling(tree->arena, own), name) == 0)
        return record;
    if (!find_named_base(tree->arena, tree->binary, &type, name, &field))
        return refuse(tree, where,
                      arena_print(tree->arena, "'%s' has no base '%s' at a fixed place",
                                  source_of(tree, record), class));
    return node_of_field(tree, record, &field);
}

struct node *make_field(struct tree *tree, struct node *record, const char *name, size_t where) {
    struct field field;
    const char *colons = last_colons(name);
    if (colons && record->type.kind == TYPE_RECORD && is_object(record)) {
        record =
            make_base(tree, record, arena_copy(tree->arena, name, (size_t)(colons - name)), where);
        if (!record)
            return NULL;
        name = colons + 2;
    }
    if (record->type.kind != TYPE_RECORD || !is_object(record))
        return refuse(tree, record->begin,
                      arena_print(tree->arena,
                                  is_pointer(record) ? "'%s' is a pointer; write '->'"
                                                     : "'%s' is no structure and has no members",
                                  source_of(tree, record)));
    if (!find_field(tree->binary, &record->type, name, &field)) {
        if (has_virtually(tree->binary, &record->type, name))
            return refuse(tree, where,
                          arena_print(tree->arena,
                                      "'%s' is in a virtual base of '%s', which only the object "
                                      "knows the place of; give a pointer to that base",
                                      name, source_of(tree, record)));
        if (dwarf_hasattr(&record->type.die, DW_AT_declaration))
            return refuse(
                tree, where,
                arena_print(tree->arena,
                            "the type of '%s' is declared, but the debug information does "
                            "not define it; compile with -g what does, and with "
                            "-fstandalone-debug for clang",
                            source_of(tree, record)));
        struct near_names near_names = {.wanted = name};
        each_field(tree->binary, &record->type, offer_field, &near_names);
        return refuse(tree, where,
                      arena_print(tree->arena, "'%s' has no member '%s'%s", source_of(tree, record),
                                  name, suggest(tree->arena, &near_names)));
    }
    if (is_in_two_bases(tree->binary, &record->type, name))
        return refuse(tree, where,
                      arena_print(tree->arena,
                                  "'%s' is in several bases of '%s'; write 'BASE::%s' for it", name,
                                  source_of(tree, record), name));
    return follow(tree, node_of_field(tree, record, &field));
}

struct node *make_address(struct tree *tree, struct node *object) {
    if (!is_object(object) || object->bits)
        return refuse(tree, object->begin,
                      arena_print(tree->arena, "'%s' has no address", source_of(tree, object)));
    struct type *target = ARENA_NEW(tree->arena, struct type);
    *target = object->type;
    struct type type = {.kind = TYPE_POINTER, .size = 8, .target = target};
    struct node *node = make_node(tree, NODE_ADDRESS, &type);
    node->a = object;
    node->number = object->type.size;
    return node;
}

/* ---- operators ---- */

static struct type promoted(const struct node *node) {
    const struct type *type = &node->type;
    if (type->kind == TYPE_FLOATING)
        return *type;
    bool fits = type->size < 4 || (node->bits && node->bits < 32);
    return fits ? the_int : integer_type(type->size, type->is_signed);
}

static struct type common(const struct node *left, const struct node *right) {
    struct type a = promoted(left), b = promoted(right);
    if (a.kind == TYPE_FLOATING || b.kind == TYPE_FLOATING) {
        if (a.kind != b.kind)
            return a.kind == TYPE_FLOATING ? a : b;
        return a.size >= b.size ? a : b;
    }
    if (a.size != b.size)
        return a.size > b.size ? a : b;
    return integer_type(a.size, a.is_signed && b.is_signed);
}

struct node *make_unary(struct tree *tree, enum operation operation, struct node *operand) {
    if (!check_scalar(tree, operand))
        return NULL;
    if (operation == OPERATION_COMPLEMENT && !is_integer(operand))
        return refuse(tree, operand->begin, "'~' is for integers");
    if (operation == OPERATION_NEGATE && !is_number(operand))
        return refuse(tree, operand->begin, "'-' is for numbers");
    struct type type = operation == OPERATION_NOT ? the_int : promoted(operand);
    struct node *node = make_node(tree, NODE_UNARY, &type);
    node->operation = (uint8_t)operation;
    node->a = operand;
    return node;
}

/* Returns the size of what POINTER points to. If it is unknown, returns 0 and sets the error. */
static uint64_t element_size(struct tree *tree, const struct node *pointer) {
    bool told = pointer->kind == NODE_ADDRESS || pointer->kind == NODE_OFFSET;
    uint64_t size = told ? pointer->number : target_of(tree->binary, &pointer->type).size;
    if (!size)
        refuse(tree, pointer->begin,
               arena_print(tree->arena, "the size of what '%s' points to is not known",
                           source_of(tree, pointer)));
    return size;
}

/* A moved pointer keeps its type. */
static struct node *make_offset(struct tree *tree, enum operation operation, struct node *pointer,
                                struct node *count) {
    uint64_t size = element_size(tree, pointer);
    if (!size)
        return NULL;
    struct type type = pointer->type;
    struct node *node = make_node(tree, NODE_OFFSET, &type);
    node->operation = (uint8_t)operation;
    node->a = pointer;
    node->b = count;
    node->number = size;
    return node;
}

static struct node *make_distance(struct tree *tree, struct node *left, struct node *right) {
    struct type type = integer_type(8, true);
    uint64_t size = element_size(tree, left);
    if (!size)
        return NULL;
    struct node *node = make_node(tree, NODE_DISTANCE, &type);
    node->a = left;
    node->b = right;
    node->number = size;
    return node;
}

static bool takes_integers(enum operation operation) {
    return operation == OPERATION_REMAINDER || operation == OPERATION_SHIFT_LEFT ||
           operation == OPERATION_SHIFT_RIGHT || operation == OPERATION_AND ||
           operation == OPERATION_EXCLUSIVE || operation == OPERATION_OR;
}

static bool compares(enum operation operation) {
    return operation >= OPERATION_LESS && operation <= OPERATION_DIFFERENT;
}

/* Makes an operator with a pointer. Returns NULL without an error if pointers do not have that
 * operator. */
static struct node *make_pointer_binary(struct tree *tree, enum operation operation,
                                        struct node *left, struct node *right) {
    if (operation == OPERATION_ADD && is_pointer(left) && is_integer(right))
        return make_offset(tree, operation, left, right);
    if (operation == OPERATION_ADD && is_integer(left) && is_pointer(right))
        return make_offset(tree, operation, right, left);
    if (operation == OPERATION_SUBTRACT && is_pointer(left) && is_integer(right))
        return make_offset(tree, operation, left, right);
    if (operation == OPERATION_SUBTRACT && is_pointer(left) && is_pointer(right))
        return make_distance(tree, left, right);
    if (!compares(operation) || left->type.kind == TYPE_FLOATING ||
        right->type.kind == TYPE_FLOATING)
        return NULL;
    struct node *node = make_node(tree, NODE_BINARY, &the_int);
    node->operation = (uint8_t)operation;
    node->operands = integer_type(8, false);
    node->a = left;
    node->b = right;
    return node;
}

struct node *make_binary(struct tree *tree, enum operation operation, struct node *left,
                         struct node *right) {
    if (!check_scalar(tree, left) || !check_scalar(tree, right))
        return NULL;
    bool logical = operation == OPERATION_BOTH || operation == OPERATION_EITHER;
    if (!logical && (is_pointer(left) || is_pointer(right))) {
        struct node *node = make_pointer_binary(tree, operation, left, right);
        return node ? node : refuse(tree, left->end, "pointers have no such operator");
    }
    if (takes_integers(operation) && (!is_integer(left) || !is_integer(right)))
        return refuse(tree, left->end, "that operator is for integers");
    struct node *node = make_node(tree, NODE_BINARY, &the_int);
    node->operation = (uint8_t)operation;
    node->a = left;
    node->b = right;
    if (logical)
        return node;
    bool shifts = operation == OPERATION_SHIFT_LEFT || operation == OPERATION_SHIFT_RIGHT;
    node->operands = shifts ? promoted(left) : common(left, right);
    if (!compares(operation))
        node->type = node->operands;
    return node;
}

struct node *make_condition(struct tree *tree, struct node *condition, struct node *yes,
                            struct node *no) {
    if (!check_scalar(tree, condition) || !check_scalar(tree, yes) || !check_scalar(tree, no))
        return NULL;
    bool pointers = is_pointer(yes) || is_pointer(no);
    struct type type = pointers ? (is_pointer(yes) ? yes : no)->type : common(yes, no);
    struct node *node = make_node(tree, NODE_CONDITION, &type);
    node->operands = pointers ? integer_type(8, false) : type;
    node->a = condition;
    node->b = yes;
    node->c = no;
    return node;
}

/* Sets MOVE to the number that must be added to FROM, a pointer to a class, when it is cast to TO,
 * a pointer to a base or a derived class. Returns false and sets the error if a virtual base is
 * between them: only the object contains its position. */
static bool find_move(struct tree *tree, const struct node *from, const struct type *to,
                      uint64_t *move) {
    uint64_t offset = 0;
    *move = 0;
    if (!is_pointer(from) || to->kind != TYPE_POINTER)
        return true;
    struct type own = target_of(tree->binary, &from->type), other = target_of(tree->binary, to);
    if (own.kind != TYPE_RECORD || other.kind != TYPE_RECORD)
        return true;
    enum base_kind up = find_base(tree->binary, &own, &other, &offset);
    enum base_kind down = up ? BASE_NONE : find_base(tree->binary, &other, &own, &offset);
    if (up == BASE_VIRTUAL || down == BASE_VIRTUAL) {
        refuse(tree, from->begin,
               "that leads over a virtual base, which only the object knows the place of; give a "
               "pointer that points there");
        return false;
    }
    if (up || down)
        *move = up ? offset : -offset;
    return true;
}

struct node *make_cast(struct tree *tree, const struct type *type, struct node *operand) {
    bool is_scalar = type->kind == TYPE_INTEGER || type->kind == TYPE_FLOATING ||
                     (type->kind == TYPE_POINTER && !type->is_reference);
    if (!is_scalar)
        return refuse(tree, operand->begin,
                      "values can be converted to numbers and pointers only; take a pointer's "
                      "target: *(TYPE *)...");
    if (!check_scalar(tree, operand))
        return NULL;
    if (type->kind != TYPE_INTEGER && type->kind != operand->type.kind && !is_integer(operand) &&
        !(type->kind == TYPE_POINTER && is_pointer(operand)))
        return refuse(tree, operand->begin,
                      "no number that is not an integer is a pointer, and no "
                      "pointer is one");
    uint64_t move;
    if (!find_move(tree, operand, type, &move))
        return NULL;
    struct node *node = make_node(tree, NODE_CAST, type);
    node->a = operand;
    node->number = move;
    return node;
}
