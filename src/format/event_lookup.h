/* event_lookup.h: the potential of an event kind at an instruction's address.
 *
 * The runtime computes it for its own process, and readers for a process that they look at. event.h
 * describes the format of the tables. */
#ifndef QUIPU_FORMAT_EVENT_LOOKUP_H
#define QUIPU_FORMAT_EVENT_LOOKUP_H

#include "format/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes from `next` up to `end`. A read beyond the end sets `bad`. */
struct quipu_bytes {
    const uint8_t *next, *end;
    bool bad;
};

__attribute__((always_inline)) static inline uint32_t quipu_take_byte(struct quipu_bytes *bytes) {
    if (bytes->next >= bytes->end) {
        bytes->bad = true;
        return 0;
    }
    return *bytes->next++;
}

__attribute__((always_inline)) static inline uint32_t quipu_take_long(struct quipu_bytes *bytes) {
    uint32_t value = quipu_take_byte(bytes);
    for (int shift = 8; shift < 32; shift += 8)
        value |= quipu_take_byte(bytes) << shift;
    return value;
}

__attribute__((always_inline)) static inline uint32_t quipu_take_number(struct quipu_bytes *bytes) {
    uint32_t value = 0, byte = 0x80;
    for (int shift = 0; shift < 32 && byte & 0x80; shift += 7) {
        byte = quipu_take_byte(bytes);
        value |= (byte & 0x7f) << shift;
    }
    return value;
}

__attribute__((always_inline)) static inline int32_t quipu_take_signed(struct quipu_bytes *bytes) {
    uint32_t value = quipu_take_number(bytes);
    return (int32_t)(value >> 1 ^ (value & 1 ? UINT32_MAX : 0));
}

/* Returns the number of bits that are set. The compiler's builtin may call its library, which the
 * runtime must not do. */
__attribute__((always_inline)) static inline uint32_t quipu_count_bits(uint32_t bits) {
    uint32_t count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

/* A table that is being read, for one kind. */
struct quipu_table {
    struct quipu_bytes bytes; /* at the first anchor */
    uint32_t kinds, anchors;
    bool turns;             /* the anchors have turns */
    uint32_t width, column; /* number of the table's kinds; index of the wanted one among them */
    const uint8_t *weights, *weights_end;
};

/* Opens the table at TABLE. The table and its weights must be in [BEGIN, END). Returns false if it
 * does not count KIND, or is not a table. */
static inline bool quipu_open_table(struct quipu_table *t, const uint8_t *table,
                                    const uint8_t *begin, const uint8_t *end, uint32_t kind) {
    t->bytes = (struct quipu_bytes){table, end, false};
    t->kinds = quipu_take_long(&t->bytes);
    uint64_t weights =
        (uint64_t)t->bytes.next + (uint64_t)(int64_t)(int32_t)quipu_take_long(&t->bytes);
    t->anchors = quipu_take_long(&t->bytes);
    t->turns = t->anchors & QUIPU_QUERY_TURNS;
    t->anchors &= ~(uint32_t)QUIPU_QUERY_TURNS;
    t->width = quipu_count_bits(t->kinds);
    t->column = quipu_count_bits(t->kinds & ((1u << kind) - 1));
    t->weights = (const uint8_t *)weights;
    t->weights_end = end;
    return !t->bytes.bad && t->kinds >> kind & 1 && t->weights >= begin && t->weights <= end;
}

__attribute__((always_inline)) static inline uint32_t quipu_weight(struct quipu_table *t,
                                                                   uint32_t number) {
    uint64_t offset = 2 * ((uint64_t)number * t->width + t->column);
    if (offset + 2 > (uint64_t)(t->weights_end - t->weights)) {
        t->bytes.bad = true;
        return 0;
    }
    return (uint32_t)(t->weights[offset] | t->weights[offset + 1] << 8);
}

/* Returns the number of the anchor's instructions. Adds RCX times the anchor's turns to SUM. */
__attribute__((always_inline)) static inline uint32_t quipu_take_count(struct quipu_table *t,
                                                                       uint64_t rcx, int64_t *sum) {
    uint32_t number = quipu_take_number(&t->bytes);
    if (!t->turns)
        return number;
    for (uint32_t k = 0; k < t->width && number & 1; k++) {
        int32_t each = quipu_take_signed(&t->bytes);
        if (k == t->column)
            *sum = (int64_t)((uint64_t)*sum + (uint64_t)(int64_t)each * rcx);
    }
    return number >> 1;
}

/* Returns the potential at ADDRESS, a distance from the fragment's start, if %rcx contains RCX.
 * Sets t->bytes.bad if the table is damaged. */
static inline int64_t quipu_sum_at(struct quipu_table *t, uint32_t address, uint64_t rcx) {
    int64_t sum = 0, best = -1;
    for (uint32_t a = 0; a < t->anchors && !t->bytes.bad; a++) {
        uint32_t start = quipu_take_long(&t->bytes);
        int64_t here = 0;
        for (uint32_t k = 0; k < t->width; k++) {
            int32_t value = quipu_take_signed(&t->bytes);
            here = k == t->column ? value : here;
        }
        uint32_t count = quipu_take_count(t, rcx, &here), at = start;
        /* if two anchors have the same start, the one with instructions is right */
        bool closer = start <= address && (start > best || (start == best && count > 0));
        for (uint32_t i = 0; i < count && !t->bytes.bad; i++) {
            uint32_t byte = quipu_take_byte(&t->bytes), number = byte >> 4;
            if (number == QUIPU_QUERY_ESCAPE)
                number = quipu_take_number(&t->bytes);
            if (closer && at < address)
                here += quipu_weight(t, number);
            at += byte & 15;
        }
        if (closer) {
            best = start;
            sum = here;
        }
    }
    return sum;
}

#endif
