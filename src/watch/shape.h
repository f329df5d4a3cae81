/* shape.h: how an object is laid out, read once out of debug information, and its bytes as text.
 *
 * Hits come by the million, so names and values are made from this, and not from DWARF. */
#ifndef QUIPU_WATCH_SHAPE_H
#define QUIPU_WATCH_SHAPE_H

#include "symbols/type.h"
#include "util/buffer.h"

enum shape_look {
    LOOK_NUMBER,
    LOOK_CHARACTER,
    LOOK_TRUTH,
    LOOK_COMPLEX, /* of a TYPE_NONE: two floating point numbers */
    LOOK_BYTE,    /* of what no type is known */
};

struct shape {
    uint8_t kind; /* enum type_kind */
    uint8_t look; /* enum shape_look */
    bool is_signed;
    uint64_t size;    /* bytes */
    const char *name; /* of the type, as C spells it */
    const struct shape *element;
    uint64_t count;                    /* elements of an array ... */
    int64_t first;                     /* ... and the index of the first */
    unsigned dimensions;               /* of a Fortran array, the indices that an element takes */
    bool is_fortran;                   /* of a record, and an array that is none's element */
    VECTOR(struct shape_field) fields; /* of a record */
    VECTOR(struct {
        const char *name;
        int64_t value;
    })
    constants; /* of an enumeration */
};

struct shape_field {
    const char *name;
    const struct shape *shape;
    uint64_t offset;
    uint32_t bit, bits; /* as in struct field */
};

/* All lies in ARENA. */
const struct shape *make_shape(struct arena *arena, const struct binary *binary,
                               const struct type *type);

/* A byte of unknown type. */
const struct shape *byte_shape(struct arena *arena);

/* A number of SIZE bytes of unknown type. */
const struct shape *word_shape(struct arena *arena, uint64_t size);

/* A part of an object. */
struct part {
    const struct shape *shape;
    uint64_t offset;    /* in the object */
    uint64_t count;     /* elements from there on; 0: it is one object */
    uint32_t bit, bits; /* of a bit field; else bits is 0 */
    const char *others; /* of elements, in Fortran's way: what stands behind their index: ",3)" */
    uint64_t chosen; /* of a record: those of its fields alone, all bit fields, whose bits are set
                        here, the least one's ... */
    size_t chosen_from; /* ... that of this number; 0: all of it */
};

/* Bytes of an object, those from BEGIN on, COUNT of them. */
struct told_bytes {
    const uint8_t *bytes;
    uint64_t begin, count;
};

/* The SIZE bytes at OFFSET of the object; NULL where they are not all told. */
const uint8_t *find_bytes(const struct told_bytes *bytes, uint64_t offset, uint64_t size);

/* The bytes [begin, end) of an object that were written, and what it was and is. */
struct written {
    uint64_t begin, end;
    const struct told_bytes *old, *now;
};

/* Narrows PART to the least part of it that holds what was WRITTEN, which lies in it, and appends
 * what leads there to NAME: ".limits[3]", "[4..7]", "(2:3,1)%x".  Of bit fields that share these
 * bytes it is those whose bits have changed, ".{low, high}"; if none has, all of them.  FIRST is
 * the index of the first of its elements, where it has a count. */
void narrow(struct part *part, const struct written *written, uint64_t first, struct buffer *name);

/* Appends the value of PART to TEXT: "4097", "'a' (97)", "{1, 2, ...}", "?" for what is not among
 * BYTES.  OTHER is what it was, or came to be.  Where a difference from that stands too far behind
 * to be shown so, what differs is shown: "{.last = 7, ...}", "{..., 7, 8}"; and so is, where the
 * first ones are not among BYTES, what is. */
void print_part(struct buffer *text, const struct part *part, const struct told_bytes *bytes,
                const struct told_bytes *other);

/* Appends the name of its type: "long", "int[3]", "{unsigned int, bool}". */
void print_type(struct buffer *text, const struct part *part);

void print_unsigned(struct buffer *text, uint64_t number);
void print_integer(struct buffer *text, uint64_t bits, bool is_signed);
void print_base16(struct buffer *text, uint64_t number);

#endif
