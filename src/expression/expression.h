/* expression.h: C expressions over a program's variables. An expression is read once, and evaluated
 * often over the program's memory. */
#ifndef QUIPU_EXPRESSION_EXPRESSION_H
#define QUIPU_EXPRESSION_EXPRESSION_H

#include "expression/memory.h"
#include "symbols/variables.h"

enum node_kind {
    NODE_NUMBER,
    NODE_OBJECT,    /* an object at `number`, an address as linked */
    NODE_TARGET,    /* the object that a points to */
    NODE_FIELD,     /* a field of the object a, at an offset */
    NODE_ADDRESS,   /* the address of the object a */
    NODE_UNARY,     /* operation on a */
    NODE_BINARY,    /* operation on a and b, which are converted to one type */
    NODE_OFFSET,    /* the pointer a, moved by b elements */
    NODE_DISTANCE,  /* number of elements between the pointers a and b */
    NODE_CONDITION, /* a ? b : c */
    NODE_CAST,      /* a, converted; a pointer to a class may move to a base or a derived class */
};

enum operation {
    OPERATION_NONE,
    OPERATION_MULTIPLY,
    OPERATION_DIVIDE,
    OPERATION_REMAINDER,
    OPERATION_ADD,
    OPERATION_SUBTRACT,
    OPERATION_SHIFT_LEFT,
    OPERATION_SHIFT_RIGHT,
    OPERATION_LESS,
    OPERATION_GREATER,
    OPERATION_AT_MOST,
    OPERATION_AT_LEAST,
    OPERATION_EQUAL,
    OPERATION_DIFFERENT,
    OPERATION_AND,
    OPERATION_EXCLUSIVE,
    OPERATION_OR,
    OPERATION_BOTH,
    OPERATION_EITHER,
    OPERATION_NOT,        /* unary */
    OPERATION_COMPLEMENT, /* unary */
    OPERATION_NEGATE,     /* unary */
};

/* `type` is the type of the object for an object, a target or a field. For others it is that of the
 * value. */
struct node {
    uint8_t kind, operation;
    struct type type;
    struct type operands; /* NODE_BINARY, NODE_CONDITION: operands are converted to it */
    struct node *a, *b, *c;
    /* A value, an address as linked, an offset (negative for some casts), or the size of an
     * element. */
    uint64_t number;
    long double real;   /* value, if the type is TYPE_FLOATING */
    uint32_t bit, bits; /* of a bit field */
    size_t begin, end;  /* position in the text */
};

struct expression {
    const char *text;
    struct node *root;
    VECTOR(struct node *) objects; /* those that have a value, and whose contents are read */
};

/* Reads TEXT. Returns NULL, or an error message, with its position in TEXT in WHERE. */
const char *parse_expression(struct arena *arena, const struct variables *variables,
                             const char *text, struct expression *expression, size_t *where);

/* The object, or the slice of an array, that a text names. */
struct object {
    const char *text;
    struct node *node;     /* the object, or the first element of the slice */
    uint64_t count;        /* elements of the slice; 0: it is no slice */
    int64_t first;         /* of a slice: index of its first element */
    size_t base, base_end; /* of a slice: position of its array in the text */
    /* Of a slice in Fortran's form: the text behind its index, such as ",3)" or ")". */
    const char *others;
    struct expression path; /* its objects determine the address; none: the address never changes */
    bool is_described;      /* an array's descriptor contains its address */
    bool is_missing;        /* refused: it has a name that no variable and no type has */
    bool is_local;          /* refused: it names a local without the local's function */
};

/* Reads TEXT, which names an object or a slice. The form of a slice is ARRAY[FIRST..LAST], or for
 * Fortran ARRAY(FIRST:LAST,OTHER). Returns the same as parse_expression. */
const char *parse_object(struct arena *arena, const struct variables *variables, const char *text,
                         struct object *object, size_t *where);

/* ---- tree.c: nodes with their types ----
 *
 * A function that makes a node returns NULL and sets `wrong` of TREE if the types do not fit. */

struct tree {
    struct arena *arena;
    const struct binary *binary;
    const char *text;
    const char *wrong;
    size_t where;
};

bool is_object(const struct node *node);
/* Returns the error message for ARRAY, an array with a descriptor, if it has no indices. */
const char *described_array(struct tree *tree, const struct node *array);
/* Makes an object of TYPE at ADDRESS, an integer. */
struct node *make_load(struct tree *tree, const struct type *type, struct node *address);
struct node *make_number(struct tree *tree, uint64_t number, uint64_t size, bool is_signed);
struct node *make_real(struct tree *tree, long double real, uint64_t size);
struct node *make_object(struct tree *tree, uint64_t address, const struct type *type);
struct node *make_target(struct tree *tree, struct node *pointer);
struct node *make_field(struct tree *tree, struct node *record, const char *name, size_t where);
struct node *make_address(struct tree *tree, struct node *object);
struct node *make_unary(struct tree *tree, enum operation operation, struct node *operand);
struct node *make_binary(struct tree *tree, enum operation operation, struct node *left,
                         struct node *right);
struct node *make_condition(struct tree *tree, struct node *condition, struct node *yes,
                            struct node *no);
struct node *make_cast(struct tree *tree, const struct type *type, struct node *operand);
/* Whether NODE has a number or a pointer as its value. If not, sets the error of TREE. */
bool check_scalar(struct tree *tree, const struct node *node);

/* ---- descriptor.c ---- */

/* Makes an element of ARRAY, an array with a descriptor. INDICES has one index for each dimension,
 * in Fortran's order. */
struct node *make_described_element(struct tree *tree, struct node *array,
                                    struct node *const *indices);
/* Whether the elements of an array of TYPE always lie next to each other in the order of the first
 * index. */
bool is_contiguous(const struct tree *tree, const struct type *type);

/* ---- evaluate.c ---- */

enum truth {
    TRUTH_FALSE,
    TRUTH_TRUE,
    TRUTH_UNKNOWN /* memory cannot be read, or a division by 0 */
};

enum truth evaluate(const struct expression *expression, const struct memory *memory);

/* Returns the value of NODE as text: "4097", "97 'a'", "0x7ffe12", "done" of an enumeration; "?" if
 * it has none. The text is in ARENA, or in the debug information. */
const char *value_text(struct arena *arena, const struct node *node, const struct memory *memory);

enum {
    NULL_PAGE = 4096 /* a pointer below this is not valid */
};

/* Sets ADDRESS to the present address of OBJECT in MEMORY. Returns false if there is none, for
 * example because a pointer on the path to OBJECT is not valid. */
bool object_address(const struct node *object, const struct memory *memory, uint64_t *address);

#endif
