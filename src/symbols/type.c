/* type.c: types from DWARF; see type.h.
 *
 * Not perfect: integers of more than 8 bytes, complex numbers, vectors and pointers to members have
 * no value here. */
#include "symbols/type.h"

#include "symbols/scopes.h"
#include "symbols/spelling.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    NAMES_MAX = 16, /* scopes around a type, and its own name */
    DIMENSIONS_MAX = 16,
};

bool attribute_word(Dwarf_Die *die, unsigned name, uint64_t *word) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0)
        return false;
    *word = value;
    return true;
}

bool member_offset(Dwarf_Die *member, uint64_t *offset) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    *offset = 0;
    if (!dwarf_attr(member, DW_AT_data_member_location, &attribute) ||
        attribute_word(member, DW_AT_data_member_location, offset))
        return true;
    if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1 ||
        operations[0].atom != DW_OP_plus_uconst) /* DWARF 2 has this for each member */
        return false;
    *offset = operations[0].number;
    return true;
}

bool next_unit(Dwarf *dwarf, Dwarf_CU **unit, Dwarf_Die *top) {
    Dwarf_Die split = {0};
    uint8_t kind = 0;
    if (dwarf_get_units(dwarf, *unit, unit, NULL, &kind, top, &split) != 0)
        return false;
    if (kind == DW_UT_skeleton && split.addr) /* in a type unit, SPLIT is the type */
        *top = split;
    return true;
}

/* ---- types that are only declared in one unit and defined in another ---- */

/* The names of the scopes around a declaration, the outermost one first, and its own name last. */
struct path {
    const char *names[NAMES_MAX];
    size_t count;
};

static bool is_scope(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_union_type;
}

/* Sets PATH to that of RECORD. Returns false if RECORD is local to a function or has no name: then
 * no other unit defines it. */
static bool read_path(const struct binary *binary, Dwarf_Die *record, struct path *path) {
    Dwarf_Die scopes[SCOPES_MAX];
    int count = scopes_around(binary->scopes, record, scopes);
    bool good = count > 0;
    path->count = 0;
    for (int i = count; good && i-- > 0;) {
        const char *name = dwarf_diename(&scopes[i]);
        if (!is_scope(dwarf_tag(&scopes[i]))) {
            good = i == count - 1; /* the unit */
            continue;
        }
        good = name && path->count < NAMES_MAX;
        if (good)
            path->names[path->count++] = name;
    }
    return good && path->count;
}

/* Whether DIE defines a type. A type that is declared with 'class' may be defined with 'struct'. */
static bool is_definition(Dwarf_Die *die, bool is_union) {
    int tag = dwarf_tag(die);
    return tag != DW_TAG_namespace && (tag == DW_TAG_union_type) == is_union &&
           !dwarf_hasattr(die, DW_AT_declaration);
}

static bool is_same_path(const struct path *a, const struct path *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->names[i], b->names[i]) == 0;
    return same;
}

/* Whether DEFINITION has a declaration with PATH. A definition may be outside of the scope of its
 * declaration. */
static bool is_of(const struct binary *binary, Dwarf_Die *definition, const struct path *path) {
    Dwarf_Attribute attribute;
    Dwarf_Die declaration;
    struct path own;
    return dwarf_attr(definition, DW_AT_specification, &attribute) &&
           dwarf_formref_die(&attribute, &declaration) && read_path(binary, &declaration, &own) &&
           is_same_path(&own, path);
}

/* Searches the children of PARENT for a definition of PATH, whose names before DEPTH are those of
 * PARENT and the scopes around it. Returns false if there is none. */
static bool find_path(const struct binary *binary, Dwarf_Die *parent, const struct path *path,
                      size_t depth, bool is_union, Dwarf_Die *found) {
    Dwarf_Die child;
    const char *last = path->names[path->count - 1];
    if (dwarf_child(parent, &child) != 0)
        return false;
    do {
        const char *name = is_scope(dwarf_tag(&child)) ? dwarf_diename(&child) : NULL;
        if (!name)
            continue;
        if (strcmp(name, last) == 0 && is_definition(&child, is_union) &&
            (dwarf_hasattr(&child, DW_AT_specification) ? is_of(binary, &child, path)
                                                        : depth + 1 == path->count)) {
            *found = child;
            return true;
        }
        if (depth + 1 < path->count && strcmp(name, path->names[depth]) == 0 &&
            find_path(binary, &child, path, depth + 1, is_union, found))
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

static void find_definition(const struct binary *binary, Dwarf_Die *record) {
    struct path path;
    Dwarf_CU *unit = NULL;
    Dwarf_Die top;
    bool is_union = dwarf_tag(record) == DW_TAG_union_type;
    if (!read_path(binary, record, &path))
        return;
    while (next_unit(binary->dwarf, &unit, &top))
        if (find_path(binary, &top, &path, 0, is_union, record))
            return;
}

/* ---- types ---- */

static struct type base_type(Dwarf_Die *die) {
    struct type type = {.kind = TYPE_INTEGER};
    uint64_t encoding = 0, size = 0;
    attribute_word(die, DW_AT_encoding, &encoding);
    attribute_word(die, DW_AT_byte_size, &size);
    type.size = size;
    switch (encoding) {
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        type.is_signed = true;
        break;
    case DW_ATE_boolean:
        type.is_boolean = true;
        break;
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        break;
    case DW_ATE_float:
        type.kind = size == 4 || size == 8 || size == 16 ? TYPE_FLOATING : TYPE_NONE;
        return type;
    default:
        type.kind = TYPE_NONE;
    }
    if (size != 1 && size != 2 && size != 4 && size != 8)
        type.kind = TYPE_NONE;
    return type;
}

static struct type enumeration(const struct binary *binary, Dwarf_Die *die) {
    struct type type = type_of(binary, die);
    uint64_t size = 4;
    if (type.kind == TYPE_INTEGER)
        return type;
    attribute_word(die, DW_AT_byte_size, &size);
    return (struct type){.kind = TYPE_INTEGER, .size = size};
}

bool constant_value(Dwarf_Die *die, int64_t *value) {
    Dwarf_Attribute attribute;
    Dwarf_Sword found;
    if (!dwarf_attr(die, DW_AT_const_value, &attribute) || dwarf_formsdata(&attribute, &found) != 0)
        return false;
    *value = found;
    return true;
}

const char *constant_name(const struct type *type, int64_t value) {
    Dwarf_Die spelled = type->spelled, die, child;
    if (!type->is_spelled || dwarf_peel_type(&spelled, &die) != 0 ||
        dwarf_tag(&die) != DW_TAG_enumeration_type || dwarf_child(&die, &child) != 0)
        return NULL;
    do {
        int64_t constant;
        if (constant_value(&child, &constant) && constant == value)
            return dwarf_diename(&child);
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

static struct type record_type(const struct binary *binary, Dwarf_Die *die) {
    struct type type = {.kind = TYPE_RECORD, .die = *die, .has_die = true};
    if (dwarf_hasattr(die, DW_AT_declaration))
        find_definition(binary, &type.die);
    attribute_word(&type.die, DW_AT_byte_size, &type.size);
    return type;
}

struct dimension {
    int64_t first;  /* index */
    uint64_t count; /* 0: unknown */
};

static struct dimension read_dimension(Dwarf_Die *range, int64_t first) {
    struct dimension dimension = {.first = first};
    uint64_t bound = 0;
    if (attribute_word(range, DW_AT_lower_bound, &bound))
        dimension.first = (int64_t)bound;
    else if (dwarf_hasattr(range, DW_AT_lower_bound))
        return dimension;
    if (!attribute_word(range, DW_AT_count, &dimension.count) &&
        attribute_word(range, DW_AT_upper_bound, &bound))
        dimension.count = bound + 1 - (uint64_t)dimension.first;
    if ((int64_t)dimension.count < 0) /* the array is empty */
        dimension.count = 0;
    return dimension;
}

/* Reads the dimensions of ARRAY, at most DIMENSIONS_MAX. Returns their number. They have the order
 * of C's indices: the dimension whose elements lie next to each other is the last one. In Fortran
 * it is the first one. */
static unsigned read_dimensions(Dwarf_Die *array, struct dimension dimensions[]) {
    unsigned count = 0;
    Dwarf_Sword first = 0;
    Dwarf_Die unit, child;
    uint64_t ordering = DW_ORD_row_major;
    if (dwarf_diecu(array, &unit, NULL, NULL))
        dwarf_default_lower_bound(dwarf_srclang(&unit), &first);
    if (dwarf_child(array, &child) == 0)
        do
            if (dwarf_tag(&child) == DW_TAG_subrange_type && count < DIMENSIONS_MAX)
                dimensions[count++] = read_dimension(&child, first);
        while (dwarf_siblingof(&child, &child) == 0);
    if (!count)
        dimensions[count++] = (struct dimension){.first = first};
    attribute_word(array, DW_AT_ordering, &ordering);
    for (unsigned i = 0; ordering == DW_ORD_col_major && i < count / 2; i++) {
        struct dimension moved = dimensions[i];
        dimensions[i] = dimensions[count - 1 - i];
        dimensions[count - 1 - i] = moved;
    }
    return count;
}

/* Returns the number of bytes of the last LEFT dimensions of ARRAY; 0 if it is unknown. */
static uint64_t array_size(const struct binary *binary, Dwarf_Die *array, unsigned left) {
    struct dimension dimensions[DIMENSIONS_MAX];
    unsigned count = read_dimensions(array, dimensions);
    uint64_t size = type_of(binary, array).size;
    for (unsigned i = count > left ? count - left : 0; i < count; i++)
        size *= dimensions[i].count;
    return size;
}

/* If a descriptor contains the address of the elements, the array has no address of its own.
 * Fortran's allocatable arrays and pointers to arrays are such arrays. */
static struct type array_type(const struct binary *binary, Dwarf_Die *array) {
    struct dimension dimensions[DIMENSIONS_MAX];
    unsigned count = read_dimensions(array, dimensions);
    if (dwarf_hasattr(array, DW_AT_data_location))
        return (struct type){.kind = TYPE_NONE,
                             .is_described = true,
                             .die = *array,
                             .has_die = !dwarf_hasattr(array, DW_AT_rank),
                             .depth = count - 1};
    return (struct type){.kind = TYPE_ARRAY,
                         .size = array_size(binary, array, count),
                         .die = *array,
                         .has_die = true,
                         .depth = count - 1};
}

int64_t first_index(const struct type *type) {
    struct dimension dimensions[DIMENSIONS_MAX];
    Dwarf_Die array = type->die;
    if (type->kind != TYPE_ARRAY)
        return 0;
    if (type->target)
        return 1; /* a Fortran string */
    return type->has_die ? dimensions[read_dimensions(&array, dimensions) - 1 - type->depth].first
                         : 0;
}

/* Returns the source language of DIE's unit, or -1 if it is unknown. */
static int language_of(Dwarf_Die *die) {
    Dwarf_Die unit;
    return dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
}

bool is_fortran(Dwarf_Die *die) {
    switch (language_of(die)) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
        return true;
    default:
        return false;
    }
}

bool is_cxx(Dwarf_Die *die) {
    enum {
        CXX_17 = 0x2b, /* DWARF 6; older headers lack the names */
        CXX_20 = 0x2c
    };
    switch (language_of(die)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case CXX_17:
    case CXX_20:
        return true;
    default:
        return false;
    }
}

bool is_class_container(const struct type *type) {
    static const char prefix[] = "__class_";
    Dwarf_Die record = type->die;
    if (type->kind != TYPE_RECORD || !type->has_die || !is_fortran(&record))
        return false;
    const char *name = dwarf_diename(&record);
    return name && strncmp(name, prefix, strlen(prefix)) == 0;
}

unsigned dimensions_of(const struct type *type) {
    Dwarf_Die array = type->die;
    if (type->kind != TYPE_ARRAY && !type->is_described)
        return 0;
    if (type->target)
        return 1; /* a Fortran string */
    return type->has_die && is_fortran(&array) ? type->depth + 1 : 0;
}

bool is_whole_array(const struct type *type) {
    struct dimension dimensions[DIMENSIONS_MAX];
    Dwarf_Die array = type->die;
    return !type->has_die || read_dimensions(&array, dimensions) == type->depth + 1;
}

/* Returns the type of a Fortran string of fixed length: an array of characters. */
static struct type string_type(Dwarf_Die *die) {
    static const struct type character = {
        .kind = TYPE_INTEGER, .size = 1, .is_signed = true, .name = "char"};
    struct type type = {.kind = TYPE_ARRAY, .target = &character};
    if (!attribute_word(die, DW_AT_byte_size, &type.size))
        type.kind = TYPE_NONE;
    return type;
}

static struct type pointer_type(Dwarf_Die *die, bool is_reference) {
    return (struct type){.kind = TYPE_POINTER,
                         .size = 8,
                         .die = *die,
                         .has_die = dwarf_hasattr(die, DW_AT_type),
                         .is_reference = is_reference};
}

/* A pointer to a member function has two words: the function's address, and a number to add to the
 * object's address. */
static struct type member_pointer_type(Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Die target;
    bool calls = dwarf_attr(die, DW_AT_type, &attribute) &&
                 dwarf_formref_die(&attribute, &target) &&
                 dwarf_tag(&target) == DW_TAG_subroutine_type;
    return (struct type){.kind = TYPE_NONE, .size = calls ? 16 : 8};
}

/* Returns the type of DIE, which is no typedef and has no qualifiers. */
static struct type bare_type(const struct binary *binary, Dwarf_Die *die) {
    switch (dwarf_tag(die)) {
    case DW_TAG_base_type:
        return base_type(die);
    case DW_TAG_enumeration_type:
        return enumeration(binary, die);
    case DW_TAG_pointer_type:
        return pointer_type(die, false);
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return pointer_type(die, true);
    case DW_TAG_array_type:
        return array_type(binary, die);
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_class_type:
        return record_type(binary, die);
    case DW_TAG_string_type:
        return string_type(die);
    case DW_TAG_ptr_to_member_type:
        return member_pointer_type(die);
    default:
        return (struct type){.kind = TYPE_NONE};
    }
}

struct type type_at(const struct binary *binary, Dwarf_Die *die) {
    Dwarf_Die peeled, elsewhere;
    Dwarf_Attribute attribute;
    if (dwarf_peel_type(die, &peeled) != 0)
        return (struct type){.kind = TYPE_NONE};
    if (dwarf_attr(&peeled, DW_AT_signature, &attribute) &&
        dwarf_formref_die(&attribute, &elsewhere)) /* it is in a type unit */
        peeled = elsewhere;
    struct type found = bare_type(binary, &peeled);
    found.spelled = *die;
    found.is_spelled = true;
    return found;
}

struct type type_of(const struct binary *binary, Dwarf_Die *die) {
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &type))
        return (struct type){.kind = TYPE_NONE};
    return type_at(binary, &type);
}

struct type target_of(const struct binary *binary, const struct type *type) {
    Dwarf_Die die = type->die;
    if (type->target)
        return *type->target;
    if (!type->has_die)
        return (struct type){.kind = TYPE_NONE, .size = 1};
    if (type->kind == TYPE_ARRAY && type->depth) {
        struct type inner = *type;
        inner.depth--;
        inner.size = array_size(binary, &die, type->depth);
        return inner;
    }
    return type_of(binary, &die);
}

/* ---- members ---- */

static void place_bits(Dwarf_Die *member, struct field *field) {
    uint64_t bits = 0, at = 0;
    if (!attribute_word(member, DW_AT_bit_size, &bits))
        return;
    field->bits = (uint32_t)bits;
    if (attribute_word(member, DW_AT_data_bit_offset, &at)) {
        field->offset = at / 8;
        field->bit = (uint32_t)(at % 8);
    } else if (attribute_word(member, DW_AT_bit_offset, &at)) { /* from the highest bit: DWARF 3 */
        field->bit = (uint32_t)(8 * field->type.size - at - bits);
    }
}

/* Sets FIELD to MEMBER, an entry in a record. Returns false if it is no field with a fixed
 * position. IS_NAMED: it is a member with a name, and no anonymous member or base. */
static bool read_field(const struct binary *binary, Dwarf_Die *member, struct field *field,
                       bool *is_named) {
    int tag = dwarf_tag(member);
    const char *name = dwarf_diename(member);
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
        dwarf_hasattr(member, DW_AT_external))
        return false;
    *is_named = tag == DW_TAG_member && name && *name;
    *field = (struct field){.type = type_of(binary, member)};
    if (!member_offset(member, &field->offset))
        return false;
    if (*is_named)
        place_bits(member, field);
    return *is_named || field->type.kind == TYPE_RECORD;
}

static unsigned count_fields(const struct binary *binary, const struct type *record,
                             const char *name, struct field *found);

/* Whether TYPE is a class without members. Allocators and deleters are such classes. */
static bool is_empty(const struct binary *binary, const struct type *type) {
    Dwarf_Die die = type->die, member;
    bool is_named, empty = true;
    if (type->kind != TYPE_RECORD)
        return false;
    if (dwarf_child(&die, &member) != 0)
        return true;
    do {
        struct field field;
        empty &= !read_field(binary, &member, &field, &is_named) ||
                 (!is_named && is_empty(binary, &field.type));
    } while (empty && dwarf_siblingof(&member, &member) == 0);
    return empty;
}

/* Does the same as count_fields, but only for RECORD's own members and those of its anonymous
 * members; or, if INHERITED, only for its bases. */
static unsigned count_among(const struct binary *binary, const struct type *record,
                            const char *name, bool inherited, struct field *found) {
    Dwarf_Die die = record->die, member;
    struct field last;
    unsigned count = 0;
    bool is_named, has_last = false;
    int (*compare)(const char *, const char *) = is_fortran(&die) ? strcasecmp : strcmp;
    if (dwarf_child(&die, &member) != 0)
        return 0;
    do {
        struct field field, inner;
        if ((dwarf_tag(&member) == DW_TAG_inheritance) != inherited ||
            !read_field(binary, &member, &field, &is_named))
            continue;
        unsigned more = is_named ? compare(dwarf_diename(&member), name) == 0
                                 : count_fields(binary, &field.type, name, &inner);
        if (more && !is_named) {
            inner.offset += field.offset;
            field = inner;
        }
        if (more && is_empty(binary, &field.type)) {
            last = field;
            has_last = true;
            continue;
        }
        if (more && !count)
            *found = field;
        count += more;
    } while (dwarf_siblingof(&member, &member) == 0);
    if (!count && has_last)
        *found = last;
    return count ? count : has_last;
}

/* Returns how many times RECORD has the member NAME, and sets FOUND to the first one. A member of
 * RECORD itself hides those of its bases. An object of an empty class counts only if there is no
 * other. */
static unsigned count_fields(const struct binary *binary, const struct type *record,
                             const char *name, struct field *found) {
    unsigned own = count_among(binary, record, name, false, found);
    return own ? own : count_among(binary, record, name, true, found);
}

bool find_field(const struct binary *binary, const struct type *record, const char *name,
                struct field *field) {
    return count_fields(binary, record, name, field) != 0;
}

bool is_in_two_bases(const struct binary *binary, const struct type *record, const char *name) {
    struct field field;
    return count_fields(binary, record, name, &field) > 1;
}

bool find_named_base(struct arena *arena, const struct binary *binary, const struct type *record,
                     const char *name, struct field *found) {
    Dwarf_Die die = record->die, member;
    bool is_named;
    if (dwarf_child(&die, &member) != 0)
        return false;
    do {
        struct field field, inner;
        if (dwarf_tag(&member) != DW_TAG_inheritance ||
            !read_field(binary, &member, &field, &is_named))
            continue;
        const char *own = dwarf_diename(&field.type.die);
        if (own && strcmp(one_spelling(arena, own), name) == 0) {
            *found = field;
            return true;
        }
        if (find_named_base(arena, binary, &field.type, name, &inner)) {
            inner.offset += field.offset;
            *found = inner;
            return true;
        }
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

bool has_virtually(const struct binary *binary, const struct type *record, const char *name) {
    Dwarf_Die die = record->die, member;
    if (dwarf_child(&die, &member) != 0)
        return false;
    do {
        struct field field;
        struct type base = {0};
        if (dwarf_tag(&member) == DW_TAG_inheritance)
            base = type_of(binary, &member);
        if (base.kind == TYPE_RECORD &&
            (find_field(binary, &base, name, &field) || has_virtually(binary, &base, name)))
            return true;
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

/* Compares names and sizes, because each unit has its own entry for a class. */
static bool is_same_class(const struct type *a, const struct type *b) {
    Dwarf_Die one = a->die, other = b->die;
    const char *name = dwarf_diename(&one), *name_of_other = dwarf_diename(&other);
    return one.addr == other.addr ||
           (name && name_of_other && a->size == b->size && strcmp(name, name_of_other) == 0);
}

enum base_kind find_base(const struct binary *binary, const struct type *record,
                         const struct type *base, uint64_t *offset) {
    Dwarf_Die die = record->die, member;
    if (dwarf_child(&die, &member) != 0)
        return BASE_NONE;
    do {
        if (dwarf_tag(&member) != DW_TAG_inheritance)
            continue;
        uint64_t place = 0, within = 0;
        bool is_virtual = !member_offset(&member, &place);
        struct type own = type_of(binary, &member);
        enum base_kind kind = BASE_PLACED;
        if (!is_same_class(&own, base))
            kind = find_base(binary, &own, base, &within);
        *offset = place + within;
        if (kind != BASE_NONE)
            return is_virtual ? BASE_VIRTUAL : kind;
    } while (dwarf_siblingof(&member, &member) == 0);
    return BASE_NONE;
}

/* Members of bases and of anonymous members have offsets relative to these, so OFFSET is added. */
struct taking {
    uint64_t offset;
    void (*take)(void *context, const char *name, const struct field *field);
    void *context;
};

static void take_inner(void *context, const char *name, const struct field *field) {
    const struct taking *taking = context;
    struct field moved = *field;
    moved.offset += taking->offset;
    taking->take(taking->context, name, &moved);
}

void each_field(const struct binary *binary, const struct type *record,
                void (*take)(void *context, const char *name, const struct field *field),
                void *context) {
    Dwarf_Die die = record->die, member;
    if (dwarf_child(&die, &member) != 0)
        return;
    do {
        struct field field;
        bool is_named;
        if (!read_field(binary, &member, &field, &is_named))
            continue;
        struct taking taking = {field.offset, take, context};
        field.owner = dwarf_diename(&die);
        if (is_named)
            take(context, dwarf_diename(&member), &field);
        else
            each_field(binary, &field.type, take_inner, &taking);
    } while (dwarf_siblingof(&member, &member) == 0);
}
