/* shape.h: the layout of an object, read once from debug information, and its bytes as text.
 *
 * There may be millions of hits, so names and values are made from this, not from DWARF. */
#ifndef QUIPU_WATCH_SHAPE_H
#define QUIPU_WATCH_SHAPE_H

#include "symbols/type.h"
#include "util/buffer.h"

enum shape_look {
    LOOK_NUMBER,
    LOOK_CHARACTER,
    LOOK_TRUTH,
    LOOK_COMPLEX, /* of a TYPE_NONE: two floating point numbers */
    LOOK_BYTE,    /* of unknown type */
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
    unsigned dimensions;               /* of a Fortran array: the number of indices */
    bool is_fortran;                   /* of a record, and of an array that is no element of another
                                        * one */
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

/* The result is in ARENA. */
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
    uint64_t count;     /* number of elements from there on; 0: it is one object */
    uint32_t bit, bits; /* of a bit field; otherwise bits is 0 */
    const char *others; /* of elements, for Fortran: the text behind their index: ",3)" */
    uint64_t chosen; /* of a record: bit mask of its chosen fields, all bit fields; the lowest bit
                      * is ... */
    size_t chosen_from; /* ... the field with this number; 0: the whole record */
};

/* COUNT bytes of an object, from offset BEGIN on. */
struct known_bytes {
    const uint8_t *bytes;
    uint64_t begin, count;
};

/* Returns the SIZE bytes at OFFSET of the object, or NULL if not all are known. */
const uint8_t *find_bytes(const struct known_bytes *bytes, uint64_t offset, uint64_t size);

/* The written bytes [begin, end) of an object, and its old and new bytes. */
struct written {
    uint64_t begin, end;
    const struct known_bytes *old, *now;
};

/* Narrows PART to its smallest part that contains what was WRITTEN, and appends the path to it to
 * NAME: ".limits[3]", "[4..7]", "(2:3,1)%x". If several bit fields share these bytes, chooses those
 * that have changed, ".{low, high}"; if none has, all of them. FIRST is the index of PART's first
 * element, if it has a count. */
void narrow(struct part *part, const struct written *written, uint64_t first, struct buffer *name);

/* Appends the value of PART to TEXT: "4097", "'a' (97)", "{1, 2, ...}", "?" if it is not in BYTES.
 * OTHER has the value before or after. If the values differ only in members that would not be
 * shown, those that differ are shown: "{.last = 7, ...}", "{..., 7, 8}". If the first members are
 * not in BYTES, those that are in it are shown. */
void print_part(struct buffer *text, const struct part *part, const struct known_bytes *bytes,
                const struct known_bytes *other);

/* Appends the name of PART's type: "long", "int[3]", "{unsigned int, bool}". */
void print_type(struct buffer *text, const struct part *part);

void print_unsigned(struct buffer *text, uint64_t number);
void print_integer(struct buffer *text, uint64_t bits, bool is_signed);
void print_base16(struct buffer *text, uint64_t number);

#endif
