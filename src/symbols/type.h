/* type.h: types of a program's objects, from DWARF, as far as expressions need them. */
#ifndef QUIPU_SYMBOLS_TYPE_H
#define QUIPU_SYMBOLS_TYPE_H

#include "symbols/binary.h"

enum type_kind {
    TYPE_NONE, /* void, or not supported: no value */
    TYPE_INTEGER,
    TYPE_FLOATING,
    TYPE_POINTER,
    TYPE_ARRAY,
    TYPE_RECORD, /* struct, union, class */
};

struct type {
    uint8_t kind;
    bool is_signed;    /* integers */
    bool is_boolean;   /* an integer that is 0 or 1 */
    bool is_reference; /* a pointer that is a C++ reference; expressions follow it */
    uint64_t size;     /* bytes; 0: not known */
    Dwarf_Die die;     /* entry of a pointer, array or record */
    bool has_die;      /* false: none, such as for a pointer to void */
    unsigned depth;    /* of an array: number of its dimensions, without the first */
    bool is_described; /* TYPE_NONE: a Fortran array whose descriptor contains its address; it has
                          no address and no size of its own */
    Dwarf_Die spelled; /* as the source writes it, with typedefs; of an array that is an element of
                          an array: the whole */
    bool is_spelled;   /* false: no entry describes it */
    const struct type *target; /* of a pointer that an expression made: its target; of a Fortran
                                  string: a character; else NULL */
    const char *name;          /* of a type that is not spelled; NULL: none */
};

/* A member of a record. */
struct field {
    const char *owner; /* from each_field: the class whose member it is; NULL: it has no name */
    struct type type;
    uint64_t offset;
    /* Of a bit field: its position above the lowest bit at OFFSET, and its size. Otherwise bits is
     * 0. */
    uint32_t bit, bits;
};

/* Sets TOP to the entry of the unit behind *UNIT, or of the first unit if *UNIT is NULL. The entry
 * is the one that contains the unit's types and variables, which may be in a file of their own
 * (-gsplit-dwarf). Returns false at the end. */
bool next_unit(Dwarf *dwarf, Dwarf_CU **unit, Dwarf_Die *top);

/* Sets WORD to the attribute NAME of DIE. Returns false if there is none, or it is no constant. */
bool attribute_word(Dwarf_Die *die, unsigned name, uint64_t *word);
/* Sets VALUE to that of DIE, a constant of an enumeration. Returns false if it has none. */
bool constant_value(Dwarf_Die *die, int64_t *value);
/* Returns the name of the constant VALUE of the enumeration TYPE. NULL: it is none, or has no such
 * constant. */
const char *constant_name(const struct type *type, int64_t value);
/* Sets OFFSET to the position of MEMBER, or of a base, in its record: 0 in unions. Returns false if
 * it is a virtual base: only the object contains its position. */
bool member_offset(Dwarf_Die *member, uint64_t *offset);

/* Returns the type in DIE's DW_AT_type; TYPE_NONE if there is none. */
struct type type_of(const struct binary *binary, Dwarf_Die *die);

/* Returns the type whose entry is DIE. It may be a typedef or have qualifiers. */
struct type type_at(const struct binary *binary, Dwarf_Die *die);

/* Returns the target of a pointer, or the type of an array's elements. */
struct type target_of(const struct binary *binary, const struct type *type);

/* Returns the index of the first element of TYPE, an array. It is 0 in C. */
int64_t first_index(const struct type *type);

/* Whether the source of DIE's unit is Fortran, which ignores case. */
bool is_fortran(Dwarf_Die *die);

/* Whether it is C++. */
bool is_cxx(Dwarf_Die *die);

/* Whether TYPE is the record in which gfortran keeps a 'class' variable. It contains '_data', which
 * is the object or its descriptor, and '_vptr'. */
bool is_class_container(const struct type *type);

/* Returns the number of indices that select an element of TYPE in Fortran; 0 if it is no Fortran
 * array. */
unsigned dimensions_of(const struct type *type);

/* Whether TYPE is an array of its own. An array that is an element of another has the same entry,
 * and is not. */
bool is_whole_array(const struct type *type);

/* Finds the member NAME of RECORD, also in anonymous members and in bases, except virtual ones.
 * Returns false if there is none. */
bool find_field(const struct binary *binary, const struct type *record, const char *name,
                struct field *field);

/* Whether that member is in more than one base of RECORD, and not in RECORD itself. */
bool is_in_two_bases(const struct binary *binary, const struct type *record, const char *name);

/* Finds the direct or indirect base of RECORD whose name in one spelling is NAME, except virtual
 * ones. Returns false if there is none. */
bool find_named_base(struct arena *arena, const struct binary *binary, const struct type *record,
                     const char *name, struct field *found);

/* Whether a virtual base of RECORD has the member NAME. find_field has not found it. */
bool has_virtually(const struct binary *binary, const struct type *record, const char *name);

enum base_kind {
    BASE_NONE,
    BASE_PLACED,
    BASE_VIRTUAL /* it, or a base that leads to it, is virtual: only the object contains its
                    position */
};

/* Whether BASE, another record, is a base of RECORD. Sets OFFSET to its position for BASE_PLACED.
 */
enum base_kind find_base(const struct binary *binary, const struct type *record,
                         const struct type *base, uint64_t *offset);

/* Calls TAKE for each member of RECORD, with its name. Does the same for the members of anonymous
 * members and bases. */
void each_field(const struct binary *binary, const struct type *record,
                void (*take)(void *context, const char *name, const struct field *field),
                void *context);

#endif
