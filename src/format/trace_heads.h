/* trace_heads.h: the first bytes of records of traces that the code of functions writes. They tell
 * how long a record is, so that records can be taken apart without following the program's path.
 *
 * A row has the first bytes of records of one form. Records of other forms, and those for which a
 * row has no byte left, have longer heads:
 *
 *     QUIPU_TRACE_LONG        u8 wide values, and 16 times the narrow ones, u16 number
 *     QUIPU_TRACE_LARGE       u24 number, u32 size of the values in bytes
 *     QUIPU_TRACE_LARGE_SYNC  as QUIPU_TRACE_SYNC, then u32 size of the values in bytes
 *
 *
 * In front of these come first bytes which a second one follows, so that a large function has 256
 * more records of a form for each of them.
 *
 * The id of a witness is its first byte; or 256 for each first byte of such up to its own, and the
 * second one; or QUIPU_TRACE_NUMBERED and its number. */
#ifndef QUIPU_FORMAT_TRACE_HEADS_H
#define QUIPU_FORMAT_TRACE_HEADS_H

#include "format/trace.h"

#include <stddef.h>

enum {
    QUIPU_TRACE_DOUBLE = 0xf8, /* the first one of the first bytes that a second one follows */
    QUIPU_TRACE_DOUBLES = 8,
    QUIPU_TRACE_DOUBLE_SIZE = 2,
    QUIPU_TRACE_NUMBERED = 256 + 256 * QUIPU_TRACE_DOUBLES,
    QUIPU_TRACE_LONG_NUMBERS = 1 << 16,
    QUIPU_TRACE_LONG_VALUES = 16,
};

enum quipu_trace_sync {
    QUIPU_TRACE_LONG_SYNC = 1, /* with its stack pointer */
    QUIPU_TRACE_SHORT_SYNC = 2,
};

/* What a record has behind its head. */
struct quipu_trace_form {
    uint8_t sync;         /* enum quipu_trace_sync; 0: it is a witness */
    uint8_t wide, narrow; /* values of 8 and of 4 bytes */
    uint8_t vectors;      /* 1: it has vectors or masks */
};

struct quipu_trace_head {
    uint8_t first, count; /* bytes [first, first + count) */
    struct quipu_trace_form form;
};

enum {
    QUIPU_TRACE_HEADS = 15
};

/* Returns the rows. */
static inline const struct quipu_trace_head *quipu_trace_heads(void) {
    static const struct quipu_trace_head rows[QUIPU_TRACE_HEADS] = {
        {QUIPU_TRACE_SYNC, 1, {1, 0, 0, 0}},
        {QUIPU_TRACE_FIRST, 96, {0, 0, 0, 0}},
        {100, 52, {0, 0, 1, 0}},
        {152, 52, {0, 1, 0, 0}},
        {204, 8, {0, 0, 2, 0}},
        {212, 8, {0, 1, 1, 0}},
        {220, 12, {0, 2, 0, 0}},
        {232, 4, {0, 3, 0, 0}},
        {236, 1, {1, 1, 0, 0}},
        {237, 1, {1, 0, 1, 0}},
        {238, 1, {1, 2, 0, 0}},
        {239, 1, {1, 1, 1, 0}},
        {QUIPU_TRACE_REPEATED_SYNC, 1, {2, 0, 0, 0}},
        {QUIPU_TRACE_REPEATED_SYNC + 1, 1, {2, 0, 1, 0}},
        {QUIPU_TRACE_REPEATED_SYNC + 2, 1, {2, 0, 2, 0}},
    };
    return rows;
}

static inline int quipu_trace_same_form(struct quipu_trace_form one,
                                        struct quipu_trace_form other) {
    return one.sync == other.sync && one.wide == other.wide && one.narrow == other.narrow &&
           one.vectors == other.vectors;
}

/* Returns the row of records of this form, or NULL. */
static inline const struct quipu_trace_head *quipu_trace_head_of(struct quipu_trace_form form) {
    const struct quipu_trace_head *rows = quipu_trace_heads();
    for (int i = 0; i < QUIPU_TRACE_HEADS; i++)
        if (quipu_trace_same_form(rows[i].form, form))
            return &rows[i];
    return NULL;
}

/* Returns the form of witnesses with the first byte QUIPU_TRACE_DOUBLE + NUMBER, and a second one.
 */
static inline struct quipu_trace_form quipu_trace_double_form(unsigned number) {
    static const struct quipu_trace_form forms[QUIPU_TRACE_DOUBLES] = {
        {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 0},
        {0, 0, 1, 0}, {0, 2, 0, 0}, {0, 1, 1, 0}, {0, 0, 2, 0}};
    return forms[number];
}

/* Whether the form and the ID of a witness go into QUIPU_TRACE_LONG. */
static inline int quipu_trace_is_long(struct quipu_trace_form form, uint32_t id) {
    return !form.vectors && form.wide < QUIPU_TRACE_LONG_VALUES &&
           form.narrow < QUIPU_TRACE_LONG_VALUES &&
           id - QUIPU_TRACE_NUMBERED < QUIPU_TRACE_LONG_NUMBERS;
}

/* Returns the bytes of the head of a record; ID: of a witness. */
static inline unsigned quipu_trace_head_size(struct quipu_trace_form form, uint32_t id) {
    if (form.sync == QUIPU_TRACE_SHORT_SYNC)
        return QUIPU_TRACE_REPEATED_SYNC_SIZE;
    if (form.sync)
        return quipu_trace_head_of(form) ? QUIPU_TRACE_SYNC_SIZE : QUIPU_TRACE_LARGE_SYNC_SIZE;
    if (id < QUIPU_TRACE_NUMBERED)
        return id < 256 ? 1 : QUIPU_TRACE_DOUBLE_SIZE;
    return quipu_trace_is_long(form, id) ? QUIPU_TRACE_LONG_SIZE : QUIPU_TRACE_LARGE_SIZE;
}

/* Whether a record with this first byte is a sync with its stack pointer. */
static inline int quipu_trace_is_sync(uint8_t first) {
    return first == QUIPU_TRACE_SYNC || first == QUIPU_TRACE_LARGE_SYNC ||
           (first >= QUIPU_TRACE_FIRST_SYNC && first < QUIPU_TRACE_LONG);
}

/* Whether a record with this first byte is a sync without its stack pointer. */
static inline int quipu_trace_is_repeated_sync(uint8_t first) {
    return first >= QUIPU_TRACE_REPEATED_SYNC && first < QUIPU_TRACE_DOUBLE;
}

#endif
