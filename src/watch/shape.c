/* shape.c: layouts of objects; see shape.h.
 *
 * Not perfect: of a union, the first member that has the size of the write counts as written; if
 * none has, the first that contains it. */
#include "watch/shape.h"

#include <dwarf.h>
#include <string.h>

enum {
    DEPTH_MAX = 32,     /* nested types */
    DIMENSIONS_MAX = 17 /* of an array, plus one for a slice of elements */
};

/* ---- names of types ---- */

static const char *name_of_die(struct arena *arena, Dwarf_Die *die, unsigned depth);

static const char *name_behind(struct arena *arena, Dwarf_Die *die, unsigned depth) {
    Dwarf_Attribute attribute;
    Dwarf_Die behind;
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
        !dwarf_formref_die(&attribute, &behind))
        return "void";
    return name_of_die(arena, &behind, depth + 1);
}

static const char *pointer_name(struct arena *arena, Dwarf_Die *die, const char *sign,
                                unsigned depth) {
    const char *target = name_behind(arena, die, depth);
    size_t length = strlen(target);
    return arena_print(arena, length && target[length - 1] == '*' ? "%s%s" : "%s %s", target, sign);
}

static const char *array_name(struct arena *arena, Dwarf_Die *die, unsigned depth) {
    const char *name = name_behind(arena, die, depth);
    Dwarf_Die child;
    if (dwarf_child(die, &child) != 0)
        return arena_print(arena, "%s[]", name);
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word number = 0;
        if (dwarf_attr(&child, DW_AT_count, &attribute) &&
            dwarf_formudata(&attribute, &number) == 0)
            name = arena_print(arena, "%s[%llu]", name, (unsigned long long)number);
        else if (dwarf_attr(&child, DW_AT_upper_bound, &attribute) &&
                 dwarf_formudata(&attribute, &number) == 0)
            name = arena_print(arena, "%s[%llu]", name, (unsigned long long)number + 1);
        else
            name = arena_print(arena, "%s[]", name);
    } while (dwarf_siblingof(&child, &child) == 0);
    return name;
}

/* "int box::*" */
static const char *member_pointer_name(struct arena *arena, Dwarf_Die *die, unsigned depth) {
    Dwarf_Attribute attribute;
    Dwarf_Die class;
    bool known =
        dwarf_attr(die, DW_AT_containing_type, &attribute) && dwarf_formref_die(&attribute, &class);
    const char *name = known ? dwarf_diename(&class) : NULL;
    return arena_print(arena, "%s %s::*", name_behind(arena, die, depth), name ? name : "?");
}

/* Returns the name of a Fortran string type. */
static const char *string_name(struct arena *arena, Dwarf_Die *die) {
    uint64_t size;
    return attribute_word(die, DW_AT_byte_size, &size)
               ? arena_print(arena, "character(len=%llu)", (unsigned long long)size)
               : "character(len=:)";
}

static const char *name_of_die(struct arena *arena, Dwarf_Die *die, unsigned depth) {
    static const struct {
        int tag;
        const char *prefix;
    } prefixes[] = {{DW_TAG_structure_type, "struct "},
                    {DW_TAG_union_type, "union "},
                    {DW_TAG_enumeration_type, "enum "}};
    const char *name = dwarf_diename(die);
    int tag = dwarf_tag(die);
    if (depth > DEPTH_MAX)
        return "...";
    switch (tag) {
    case DW_TAG_pointer_type:
        return pointer_name(arena, die, "*", depth);
    case DW_TAG_reference_type:
        return pointer_name(arena, die, "&", depth);
    case DW_TAG_rvalue_reference_type:
        return pointer_name(arena, die, "&&", depth);
    case DW_TAG_ptr_to_member_type:
        return member_pointer_name(arena, die, depth);
    case DW_TAG_array_type:
        return array_name(arena, die, depth);
    case DW_TAG_const_type:
        return arena_print(arena, "const %s", name_behind(arena, die, depth));
    case DW_TAG_volatile_type:
    case DW_TAG_atomic_type:
    case DW_TAG_restrict_type:
        return name_behind(arena, die, depth);
    case DW_TAG_subroutine_type:
        return "function";
    case DW_TAG_string_type:
        return string_name(arena, die);
    default:
        break;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (tag == prefixes[i].tag)
            return arena_print(arena, "%s%s", prefixes[i].prefix, name ? name : "{...}");
    return name ? name : "?";
}

static const char *type_name(struct arena *arena, const struct type *type) {
    Dwarf_Die die = type->spelled;
    return type->is_spelled ? name_of_die(arena, &die, 0) : type->name ? type->name : "?";
}

/* ---- shapes ---- */

static struct shape *new_shape(struct arena *arena, const struct type *type) {
    struct shape *shape = ARENA_NEW(arena, struct shape);
    shape->kind = type->kind;
    shape->is_signed = type->is_signed;
    shape->size = type->size;
    return shape;
}

/* The record whose fields are read. */
struct taking {
    struct arena *arena;
    const struct binary *binary;
    const struct type *type;
    struct shape *shape;
};

/* Returns NAME, with the class in front if NAME alone would mean another member. */
static const char *name_of_field(const struct taking *taking, const char *name,
                                 const struct field *field) {
    struct field meant;
    bool is_clear = !field->owner || (find_field(taking->binary, taking->type, name, &meant) &&
                                      meant.offset == field->offset && meant.bit == field->bit &&
                                      !is_in_two_bases(taking->binary, taking->type, name));
    return is_clear ? name : arena_print(taking->arena, "%s::%s", field->owner, name);
}

static void take_field(void *context, const char *name, const struct field *field) {
    struct taking *taking = context;
    struct shape_field made = {.name = name_of_field(taking, name, field),
                               .shape = make_shape(taking->arena, taking->binary, &field->type),
                               .offset = field->offset,
                               .bit = field->bit,
                               .bits = field->bits};
    vector_push(taking->arena, &taking->shape->fields, made);
}

static void take_constants(struct arena *arena, Dwarf_Die *enumeration, struct shape *shape) {
    Dwarf_Die child;
    if (dwarf_child(enumeration, &child) != 0)
        return;
    do {
        int64_t value = 0;
        const char *name = dwarf_diename(&child);
        if (!name || !constant_value(&child, &value))
            continue;
        vector_reserve(arena, &shape->constants);
        shape->constants.data[shape->constants.count].name = name;
        shape->constants.data[shape->constants.count++].value = value;
    } while (dwarf_siblingof(&child, &child) == 0);
}

/* Sets how a number is shown. */
static void take_look(struct arena *arena, const struct type *type, struct shape *shape) {
    Dwarf_Die spelled = type->spelled, die;
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    if (!type->is_spelled) {
        shape->look = type->is_boolean                                ? LOOK_TRUTH
                      : type->name && strcmp(type->name, "char") == 0 ? LOOK_CHARACTER
                                                                      : LOOK_NUMBER;
        return;
    }
    if (dwarf_peel_type(&spelled, &die) != 0)
        return;
    const char *name = dwarf_diename(&die);
    if (dwarf_tag(&die) == DW_TAG_enumeration_type)
        take_constants(arena, &die, shape);
    else if (dwarf_attr(&die, DW_AT_encoding, &attribute))
        dwarf_formudata(&attribute, &encoding);
    if (encoding == DW_ATE_boolean)
        shape->look = LOOK_TRUTH;
    else if (encoding == DW_ATE_complex_float && shape->kind == TYPE_NONE)
        shape->look = LOOK_COMPLEX;
    else if (name && strcmp(name, "char") == 0)
        shape->look = LOOK_CHARACTER;
}

const struct shape *byte_shape(struct arena *arena) {
    struct type type = {.kind = TYPE_INTEGER, .size = 1};
    struct shape *shape = new_shape(arena, &type);
    shape->look = LOOK_BYTE;
    shape->name = "byte";
    return shape;
}

const struct shape *word_shape(struct arena *arena, uint64_t size) {
    struct type type = {.kind = TYPE_INTEGER, .size = size};
    struct shape *shape = new_shape(arena, &type);
    shape->look = LOOK_BYTE;
    shape->name = arena_print(arena, "byte[%llu]", (unsigned long long)size);
    return shape;
}

const struct shape *make_shape(struct arena *arena, const struct binary *binary,
                               const struct type *type) {
    struct shape *shape = new_shape(arena, type);
    shape->name = type_name(arena, type);
    if (type->kind == TYPE_ARRAY) {
        struct type element = target_of(binary, type);
        shape->element = make_shape(arena, binary, &element);
        shape->count = element.size ? type->size / element.size : 0;
        shape->first = first_index(type);
        shape->dimensions = dimensions_of(type);
        shape->is_fortran = shape->dimensions && is_whole_array(type);
        if (!shape->count)
            shape->kind = TYPE_NONE;
        if (!element.is_spelled || element.kind == TYPE_ARRAY || type->depth)
            return shape;
        shape->name =
            arena_print(arena, "%s[%llu]", shape->element->name, (unsigned long long)shape->count);
    }
    if (type->kind == TYPE_RECORD) {
        Dwarf_Die die = type->die;
        shape->is_fortran = is_fortran(&die);
    }
    if (type->kind == TYPE_RECORD)
        each_field(binary, type, take_field, &(struct taking){arena, binary, type, shape});
    if (type->kind == TYPE_INTEGER || type->kind == TYPE_NONE)
        take_look(arena, type, shape);
    return shape;
}

/* ---- parts ---- */

/* Returns the field of RECORD that contains the bytes [BEGIN, END), or NULL if no single field
 * does. */
static const struct shape_field *find_written(const struct shape *record, uint64_t begin,
                                              uint64_t end) {
    const struct shape_field *found = NULL;
    for (size_t i = 0; i < record->fields.count; i++) {
        const struct shape_field *field = &record->fields.data[i];
        uint64_t size = field->bits ? (field->bit + field->bits + 7) / 8 : field->shape->size;
        if (begin < field->offset || end > field->offset + size)
            continue;
        if (size == end - begin)
            return field;
        found = found ? found : field;
    }
    return found;
}

struct indices {
    int64_t first, last;
};

/* Narrows PART, a sequence of elements, to those that contain [BEGIN, END). */
static struct indices narrow_elements(struct part *part, uint64_t begin, uint64_t end,
                                      int64_t first) {
    uint64_t size = part->shape->size, low = (begin - part->offset) / size;
    uint64_t high = (end - 1 - part->offset) / size;
    part->offset += low * size;
    part->count = low == high ? 0 : high - low + 1;
    return (struct indices){first + (int64_t)low, first + (int64_t)high};
}

/* Whether PART is an array of several elements, and all of them are written. */
static bool is_all_written(const struct part *part, uint64_t begin, uint64_t end) {
    const struct shape *shape = part->shape;
    return begin <= part->offset && end >= part->offset + shape->size && shape->count > 1;
}

static void print_indices(struct buffer *name, struct indices indices, const char *between) {
    print_integer(name, (uint64_t)indices.first, true);
    if (indices.last == indices.first)
        return;
    buffer_text(name, between);
    print_integer(name, (uint64_t)indices.last, true);
}

static void print_brackets(struct buffer *name, struct indices indices) {
    buffer_add(name, "[", 1);
    print_indices(name, indices, "..");
    buffer_add(name, "]", 1);
}

/* Narrows PART, a Fortran array with LEFT dimensions, or elements of one with LEFT dimensions each,
 * by these dimensions, the last one first. */
static void narrow_fortran(struct part *part, uint64_t begin, uint64_t end, int64_t first,
                           unsigned left, struct buffer *name) {
    const char *others = part->count ? part->others : ")";
    struct indices known[DIMENSIONS_MAX];
    unsigned count = 0;
    if (part->count)
        known[count++] = narrow_elements(part, begin, end, first);
    for (; left && !part->count && !is_all_written(part, begin, end); left--) {
        const struct shape *array = part->shape;
        part->shape = array->element;
        known[count++] = narrow_elements(part, begin, end, array->first);
    }
    buffer_text(name, others[strlen(others) - 1] == ']' ? "[" : "(");
    while (left--)
        buffer_add(name, ":,", 2);
    while (count--) {
        print_indices(name, known[count], ":");
        buffer_text(name, count ? "," : others);
    }
}

/* Whether the bits of FIELD, a bit field at OFFSET of the object, have changed. */
static bool has_changed(const struct shape_field *field, uint64_t offset,
                        const struct written *written) {
    uint64_t size = (field->bit + field->bits + 7) / 8;
    const uint8_t *old = find_bytes(written->old, offset, size);
    const uint8_t *now = find_bytes(written->now, offset, size);
    unsigned __int128 was = 0, is = 0, mask = ((unsigned __int128)1 << field->bits) - 1;
    if (!old || !now || size > sizeof was)
        return false;
    memcpy(&was, old, size);
    memcpy(&is, now, size);
    return ((was ^ is) >> field->bit & mask) != 0;
}

/* Whether any bit of FIELD, at OFFSET of the object, is written. */
static bool is_touched(const struct shape_field *field, uint64_t offset,
                       const struct written *written) {
    uint64_t first = 8 * offset + field->bit;
    uint64_t bits = field->bits ? field->bits : 8 * field->shape->size;
    return bits && first < 8 * written->end && first + bits > 8 * written->begin;
}

/* If only bit fields of PART, a record, are written, chooses those that have changed; if none has,
 * all that are written. Returns how many it has chosen. */
static unsigned choose_bits(struct part *part, const struct written *written) {
    const struct shape *record = part->shape;
    uint64_t all = 0, changed = 0;
    size_t from = 0;
    for (size_t i = 0; i < record->fields.count; i++) {
        const struct shape_field *field = &record->fields.data[i];
        uint64_t offset = part->offset + field->offset;
        if (!is_touched(field, offset, written))
            continue;
        from = all ? from : i;
        if (!field->bits || i - from >= 8 * sizeof all)
            return 0;
        all |= (uint64_t)1 << (i - from);
        changed |= (uint64_t)has_changed(field, offset, written) << (i - from);
    }
    part->chosen = changed ? changed : all;
    part->chosen_from = from;
    return (unsigned)__builtin_popcountll(part->chosen);
}

static void print_chosen(struct buffer *name, const struct part *part) {
    const char *between = ".{";
    for (size_t i = 0; i < 8 * sizeof part->chosen; i++) {
        if (!(part->chosen >> i & 1))
            continue;
        buffer_text(name, between);
        buffer_text(name, part->shape->fields.data[part->chosen_from + i].name);
        between = ", ";
    }
    buffer_text(name, "}");
}

static void enter_field(struct part *part, const struct shape_field *field, struct buffer *name) {
    buffer_add(name, part->shape->is_fortran ? "%" : ".", 1);
    buffer_text(name, field->name);
    part->offset += field->offset;
    part->shape = field->shape;
    part->bit = field->bit;
    part->bits = field->bits;
    part->chosen = 0;
}

/* Narrows PART, a record, by one step. Returns false if that is not possible. */
static bool narrow_record(struct part *part, const struct written *written, struct buffer *name) {
    const struct shape *record = part->shape;
    unsigned count = choose_bits(part, written);
    if (count > 1) {
        print_chosen(name, part);
        return false;
    }
    const struct shape_field *field =
        count ? &record->fields.data[part->chosen_from + (unsigned)__builtin_ctzll(part->chosen)]
              : find_written(record, written->begin - part->offset, written->end - part->offset);
    if (field)
        enter_field(part, field, name);
    return field != NULL;
}

/* Narrows PART, an object, by one step. Returns false if that is not possible. */
static bool narrow_object(struct part *part, const struct written *written, struct buffer *name) {
    const struct shape *shape = part->shape;
    uint64_t begin = written->begin, end = written->end;
    if (shape->kind == TYPE_RECORD)
        return narrow_record(part, written, name);
    if (shape->kind != TYPE_ARRAY || is_all_written(part, begin, end))
        return false;
    if (shape->is_fortran) {
        narrow_fortran(part, begin, end, 0, shape->dimensions, name);
        return part->count == 0;
    }
    part->shape = shape->element;
    print_brackets(name, narrow_elements(part, begin, end, shape->first));
    return part->count == 0;
}

void narrow(struct part *part, const struct written *written, uint64_t first, struct buffer *name) {
    bool is_inner = part->shape->dimensions && !part->shape->is_fortran;
    uint64_t begin = written->begin, end = written->end;
    if (part->count && part->others)
        narrow_fortran(part, begin, end, (int64_t)first, is_inner ? part->shape->dimensions : 0,
                       name);
    else if (part->count)
        print_brackets(name, narrow_elements(part, begin, end, (int64_t)first));
    while (!part->count && narrow_object(part, written, name))
        continue;
}
