/* expression.h: C expressions over a program's variables, read once and evaluated often over its
 * memory. */
#ifndef QUIPU_EXPRESSION_EXPRESSION_H
#define QUIPU_EXPRESSION_EXPRESSION_H

#include "expression/memory.h"
#include "symbols/variables.h"

enum node_kind {
    NODE_NUMBER,
    NODE_OBJECT,    /* what has an address as linked */
    NODE_TARGET,    /* what a points to */
    NODE_FIELD,     /* of a, an object, at an offset */
    NODE_ADDRESS,   /* of a, an object */
    NODE_UNARY,     /* operator on a */
    NODE_BINARY,    /* operator on a and b, converted to one type */
    NODE_OFFSET,    /* a, a pointer, moved by b elements */
    NODE_DISTANCE,  /* elements between the pointers a and b */
    NODE_CONDITION, /* a ? b : c */
    NODE_CAST,      /* a, converted; a pointer to a class moved to its base, or from there */
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

/* Objects and targets and fields have the type of what lies there; others, that of their value. */
struct node {
    uint8_t kind, operation;
    struct type type;
    struct type operands; /* NODE_BINARY: to which both are converted */
    struct node *a, *b, *c;
    uint64_t number;    /* value; address as linked; offset, of a cast also backwards; size of an
                           element */
    long double real;   /* value, where the type is TYPE_FLOATING */
    uint32_t bit, bits; /* of a bit field */
    size_t begin, end;  /* in the text */
};

struct expression {
    const char *text;
    struct node *root;
    VECTOR(struct node *) objects; /* whose contents are read, with a value */
};

/* Reads TEXT.  Returns NULL, or what is wrong, and in WHERE the place in TEXT. */
const char *parse_expression(struct arena *arena, const struct variables *variables,
                             const char *text, struct expression *expression, size_t *where);

/* What a text names. */
struct object {
    const char *text;
    struct node *node;     /* it, or the first element of a slice */
    uint64_t count;        /* elements of a slice; 0: it is none */
    int64_t first;         /* likewise: the index of its first one, */
    size_t base, base_end; /* where its array stands in the text, */
    const char *others;    /* and in Fortran's way what follows the slice's own index: ",3)", ")" */
    struct expression path; /* its objects are those whose contents tell the address; none: it is
                              the same for all of the run */
    bool is_described;      /* an array's descriptor tells where it is */
    bool is_missing;        /* it was refused for a name that neither variable nor type has ... */
    bool is_local;          /* ... or that a local has, without its function's */
};

/* Reads TEXT, which names an object, or the elements of a slice: ARRAY[FIRST..LAST], and in
 * Fortran's way ARRAY(FIRST:LAST,OTHER).  Returns as parse_expression does. */
const char *parse_object(struct arena *arena, const struct variables *variables, const char *text,
                         struct object *object, size_t *where);

/* ---- tree.c: nodes with their types.  Each returns NULL and sets *WRONG where types do not fit.
 * ---- */

struct tree {
    struct arena *arena;
    const struct binary *binary;
    const char *text;
    const char *wrong;
    size_t where;
};

bool is_object(const struct node *node);
/* What is wrong with ARRAY, whose type is described, where it stands without indices. */
const char *described_array(struct tree *tree, const struct node *array);
/* What of TYPE lies at ADDRESS, an integer. */
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
/* NODE is asked whether it is true. */
bool check_scalar(struct tree *tree, const struct node *node);

/* ---- descriptor.c ---- */

/* An element of ARRAY, whose type is described, by one index for each dimension, Fortran's first
 * one first. */
struct node *make_described_element(struct tree *tree, struct node *array,
                                    struct node *const *indices);
/* Whether elements of that TYPE whose first index goes up by one lie next to each other for sure.
 */
bool is_contiguous(const struct tree *tree, const struct type *type);

/* ---- evaluate.c ---- */

enum truth {
    TRUTH_FALSE,
    TRUTH_TRUE,
    TRUTH_UNKNOWN /* memory that cannot be read, or a division by 0 */
};

enum truth evaluate(const struct expression *expression, const struct memory *memory);

/* The value of NODE there as text: "4097", "'a' (97)", "0x7ffe12", "?" where it has none. */
const char *value_text(struct arena *arena, const struct node *node, const struct memory *memory);

/* Sets where OBJECT is in MEMORY now.  Returns false where a pointer on the way to it leads
 * nowhere. */
bool object_address(const struct node *object, const struct memory *memory, uint64_t *address);

#endif
