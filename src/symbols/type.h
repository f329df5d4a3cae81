/* type.h: types of a program's objects, out of DWARF, as far as expressions need them. */
#ifndef QUIPU_SYMBOLS_TYPE_H
#define QUIPU_SYMBOLS_TYPE_H

#include "symbols/binary.h"

enum type_kind {
    TYPE_NONE, /* void, or what is not understood: no value */
    TYPE_INTEGER,
    TYPE_FLOATING,
    TYPE_POINTER,
    TYPE_ARRAY,
    TYPE_RECORD, /* struct, union, class */
};

struct type {
    uint8_t kind;
    bool is_signed;    /* integers */
    bool is_boolean;   /* likewise: 0 or 1 */
    bool is_reference; /* pointers: C++'s references, which are followed by themselves */
    uint64_t size;     /* bytes; 0: not known */
    Dwarf_Die die;     /* of pointers and arrays: what they are of; of records: their own */
    bool has_die;      /* 0: a pointer to void */
    unsigned depth;    /* of an array: dimensions that are behind */
    bool is_described; /* of TYPE_NONE: a Fortran array that lies where its descriptor tells; it
                          has no place and no size of its own */
    Dwarf_Die spelled; /* as the source says it, typedef and all; of an array that is an array's
                          element: of the whole */
    bool is_spelled;   /* false: no entry tells of it */
    const struct type *target; /* of a pointer that an expression made: what it points to; else
                                  NULL */
    const char *name;          /* of what is not spelled; NULL: it has none */
};

/* A member of a record. */
struct field {
    const char *owner; /* from each_field: the class whose member it is; NULL: it has no name */
    struct type type;
    uint64_t offset;
    uint32_t bit, bits; /* a bit field: bits from the least one of OFFSET; else bits is 0 */
};

/* Sets TOP to the unit behind *UNIT, which is NULL in front of the first: the entry that has its
 * types and variables, in a file of its own where they are there (-gsplit-dwarf).  Returns false at
 * the end.
 */
bool next_unit(Dwarf *dwarf, Dwarf_CU **unit, Dwarf_Die *top);

/* Sets WORD to DIE's attribute NAME.  Returns false where it has none, or one that is no constant.
 */
bool attribute_word(Dwarf_Die *die, unsigned name, uint64_t *word);

/* The type that DIE's DW_AT_type tells; of TYPE_NONE where there is none. */
struct type type_of(const struct binary *binary, Dwarf_Die *die);

/* The type that DIE, as the source says it, is. */
struct type type_at(const struct binary *binary, Dwarf_Die *die);

/* What a pointer points to, or an array has. */
struct type target_of(const struct binary *binary, const struct type *type);

/* The index of the first element of TYPE, an array: 0 in C. */
int64_t first_index(const struct type *type);

/* Whether the source of DIE's unit is Fortran, which ignores case. */
bool is_fortran(Dwarf_Die *die);

/* Whether TYPE is what gfortran keeps a 'class' variable in: '_data', the object or its descriptor,
 * and '_vptr'. */
bool is_class_container(const struct type *type);

/* How many indices an element of TYPE takes in Fortran; 0: it is no array of Fortran's. */
unsigned dimensions_of(const struct type *type);

/* Whether TYPE, an array, is no element of another with the same entry. */
bool is_whole_array(const struct type *type);

/* Finds the member NAME of RECORD, in anonymous members and bases too, but
 * for virtual ones. */
bool find_field(const struct binary *binary, const struct type *record, const char *name,
                struct field *field);

/* Whether that member is none of RECORD's own, and of more than one of its bases. */
bool is_in_two_bases(const struct binary *binary, const struct type *record, const char *name);

/* Finds the base of RECORD, or a base of one, of that NAME in its one spelling, but no virtual one.
 */
bool find_named_base(struct arena *arena, const struct binary *binary, const struct type *record,
                     const char *name, struct field *found);

/* Whether RECORD, where find_field finds no member NAME, has it from a virtual base. */
bool has_virtually(const struct binary *binary, const struct type *record, const char *name);

enum base_kind {
    BASE_NONE,
    BASE_PLACED,
    BASE_VIRTUAL /* or of one that is: only the object tells where it is */
};

/* Whether RECORD has BASE, another record, for a base; if that is placed sets OFFSET to where. */
enum base_kind find_base(const struct binary *binary, const struct type *record,
                         const struct type *base, uint64_t *offset);

/* Calls TAKE for each member of RECORD, with its name; likewise those of anonymous members and
 * bases. */
void each_field(const struct binary *binary, const struct type *record,
                void (*take)(void *context, const char *name, const struct field *field),
                void *context);

#endif
