/* split.c: takes records apart into streams, and puts them together again; see split.h.
 *
 * Mazieres and Smith 1994 store the values of impossible instructions among the witnesses. Here the
 * bytes of one rank of all values follow each other: the lowest ones change most, the others
 * repeat. A record's first byte tells how many values it has (format/trace_heads.h), so nobody
 * needs to follow the program's path.
 *
 * Invariants: each byte of the contents is in one stream, and the order within a stream is that of
 * the contents. */
#include "trace/split.h"

#include "format/trace_heads.h"

#include <string.h>

enum stream {
    PREFIX, /* counters and start */
    HEADS,  /* first bytes */
    STACKS, /* of syncs */
    CODES,  /* of syncs */
    LONGS,  /* further bytes of QUIPU_TRACE_LONG, and second bytes */
    NARROW_0,
    NARROW_1,
    NARROW_2, /* two bytes each */
    WIDE_0,
    WIDE_1,
    WIDE_2, /* two bytes each */
    WIDE_4, /* four bytes each */
    OTHERS, /* what other records have behind their first byte */
    REST,   /* what is no record */
    STREAMS
};

_Static_assert((int)STREAMS == (int)SPLIT_STREAMS, "split.h");

/* How a record is taken apart: its first byte, and then, in this order ... */
struct parts {
    uint8_t stacks; /* 1: a stack pointer */
    uint8_t codes;  /* 1: an address */
    uint8_t longs;  /* further bytes of the head of a witness */
    uint8_t wide;   /* values */
    uint8_t narrow; /* values */
    bool known;
    uint32_t others; /* bytes */
};

struct parts_table {
    struct parts of[UINT8_MAX + 1];
};

enum {
    STACK_BYTES = QUIPU_TRACE_SYNC_CODE - 1,
    CODE_BYTES = QUIPU_TRACE_SYNC_SIZE - QUIPU_TRACE_SYNC_CODE,
    LONG_BYTES = QUIPU_TRACE_LONG_SIZE - 1
};

static void fill_table(struct parts_table *table) {
    const struct quipu_trace_head *rows = quipu_trace_heads();
    memset(table, 0, sizeof *table);
    for (int i = 0; i < QUIPU_TRACE_HEADS; i++)
        for (unsigned n = 0; n < rows[i].count; n++)
            table->of[rows[i].first + n] =
                (struct parts){.known = true,
                               .stacks = rows[i].form.sync == QUIPU_TRACE_LONG_SYNC,
                               .codes = rows[i].form.sync != 0,
                               .wide = rows[i].form.wide,
                               .narrow = rows[i].form.narrow};
    table->of[QUIPU_TRACE_HANDLER] =
        (struct parts){.known = true, .others = QUIPU_TRACE_HANDLER_SIZE - 1};
    table->of[QUIPU_TRACE_RESUMED] =
        (struct parts){.known = true, .others = QUIPU_TRACE_RESUMED_SIZE - 1};
    table->of[QUIPU_TRACE_ORDER] =
        (struct parts){.known = true, .others = QUIPU_TRACE_ORDER_SIZE - 1};
    table->of[QUIPU_TRACE_MEASURED] =
        (struct parts){.known = true, .others = QUIPU_TRACE_MEASURED_SIZE - 1};
    table->of[QUIPU_TRACE_LONG] = (struct parts){.known = true, .longs = LONG_BYTES};
    for (unsigned i = 0; i < QUIPU_TRACE_DOUBLES; i++)
        table->of[QUIPU_TRACE_DOUBLE + i] =
            (struct parts){.known = true,
                           .longs = QUIPU_TRACE_DOUBLE_SIZE - 1,
                           .wide = quipu_trace_double_form(i).wide,
                           .narrow = quipu_trace_double_form(i).narrow};
    table->of[QUIPU_TRACE_LARGE] =
        (struct parts){.known = true, .others = QUIPU_TRACE_LARGE_SIZE - 1};
    table->of[QUIPU_TRACE_LARGE_SYNC] =
        (struct parts){.known = true, .others = QUIPU_TRACE_LARGE_SYNC_SIZE - 1};
}

static bool is_large(uint8_t first) {
    return first == QUIPU_TRACE_LARGE || first == QUIPU_TRACE_LARGE_SYNC;
}

/* Adds the values of a record with the first byte FIRST, if its head tells their number. HEAD: what
 * follows that byte. */
static void add_values(struct parts *parts, uint8_t first, const uint8_t *head) {
    if (first == QUIPU_TRACE_LONG) {
        parts->wide = *head % QUIPU_TRACE_LONG_VALUES;
        parts->narrow = *head / QUIPU_TRACE_LONG_VALUES;
    } else if (is_large(first)) {
        uint32_t size;
        memcpy(&size, head + parts->others - sizeof size, sizeof size);
        parts->others += size < QUIPU_TRACE_RECORD_MAX ? size : QUIPU_TRACE_RECORD_MAX;
    }
}

static size_t size_of(const struct parts *parts) {
    return 1u + parts->stacks * (unsigned)STACK_BYTES + parts->codes * (unsigned)CODE_BYTES +
           parts->longs + 8u * parts->wide + 4u * parts->narrow + parts->others;
}

/* Returns the size of the record at AT, and its parts; 0 if LEFT bytes do not begin with one. */
static size_t read_parts(const struct parts_table *table, const uint8_t *at, size_t left,
                         struct parts *parts) {
    if (!left)
        return 0;
    *parts = table->of[*at];
    if (!parts->known || size_of(parts) > left)
        return 0;
    if (*at >= QUIPU_TRACE_LONG)
        add_values(parts, *at, at + 1);
    size_t size = size_of(parts);
    return size <= left ? size : 0;
}

/* ---- taking apart ---- */

static void count_parts(uint32_t sizes[STREAMS], const struct parts *parts, uint32_t records) {
    sizes[HEADS] += records;
    sizes[STACKS] += records * parts->stacks * (unsigned)STACK_BYTES;
    sizes[CODES] += records * parts->codes * (unsigned)CODE_BYTES;
    sizes[LONGS] += records * parts->longs;
    sizes[NARROW_0] += records * parts->narrow;
    sizes[WIDE_0] += records * parts->wide;
    sizes[OTHERS] += records * parts->others;
}

/* Sets the sizes of the streams of the records at AT. Returns how many of the SIZE bytes are such.
 * Most records are counted by their first byte. */
static size_t measure_streams(const struct parts_table *table, const uint8_t *contents, size_t size,
                              uint32_t sizes[STREAMS]) {
    uint32_t records[QUIPU_TRACE_LONG] = {0};
    uint8_t lengths[QUIPU_TRACE_LONG];
    struct parts parts;
    size_t at = 0, length;
    for (int i = 0; i < QUIPU_TRACE_LONG; i++)
        lengths[i] = table->of[i].known ? (uint8_t)size_of(&table->of[i]) : 0;
    for (;;) {
        uint8_t first = at < size ? contents[at] : QUIPU_TRACE_END;
        if (first < QUIPU_TRACE_LONG && lengths[first] && at + lengths[first] <= size) {
            records[first]++;
            at += lengths[first];
            continue;
        }
        length = read_parts(table, contents + at, size - at, &parts);
        if (!length)
            break;
        count_parts(sizes, &parts, 1);
        at += length;
    }
    for (int i = 0; i < QUIPU_TRACE_LONG; i++)
        count_parts(sizes, &table->of[i], records[i]);
    sizes[NARROW_1] = sizes[NARROW_0];
    sizes[NARROW_2] = 2 * sizes[NARROW_0];
    sizes[WIDE_1] = sizes[WIDE_0];
    sizes[WIDE_2] = 2 * sizes[WIDE_0];
    sizes[WIDE_4] = 4 * sizes[WIDE_0];
    return at;
}

/* Copies SIZE bytes from *FROM to *TO, and goes on behind them. */
static inline void move_bytes(uint8_t **to, const uint8_t **from, size_t size) {
    memcpy(*to, *from, size);
    *to += size;
    *from += size;
}

/* Takes apart COUNT records at AT. The pointers are in registers: a byte that is stored may be one
 * of NEXT, for all that a compiler knows. */
static void take_apart(const struct parts_table *table, uint8_t *next[STREAMS], const uint8_t *at,
                       size_t count) {
    uint8_t *heads = next[HEADS], *wide_0 = next[WIDE_0], *wide_1 = next[WIDE_1];
    uint8_t *wide_2 = next[WIDE_2], *wide_4 = next[WIDE_4];
    uint8_t *narrow_0 = next[NARROW_0], *narrow_1 = next[NARROW_1], *narrow_2 = next[NARROW_2];
    for (; count > 0; count--) {
        uint8_t first = *at++;
        struct parts parts = table->of[first];
        *heads++ = first;
        if (first >= QUIPU_TRACE_LONG)
            add_values(&parts, first, at);
        if (parts.stacks)
            move_bytes(&next[STACKS], &at, STACK_BYTES);
        if (parts.codes)
            move_bytes(&next[CODES], &at, CODE_BYTES);
        if (parts.longs)
            move_bytes(&next[LONGS], &at, parts.longs);
        for (unsigned i = 0; i < parts.wide; i++) {
            *wide_0++ = *at++;
            *wide_1++ = *at++;
            move_bytes(&wide_2, &at, 2);
            move_bytes(&wide_4, &at, 4);
        }
        for (unsigned i = 0; i < parts.narrow; i++) {
            *narrow_0++ = *at++;
            *narrow_1++ = *at++;
            move_bytes(&narrow_2, &at, 2);
        }
        if (parts.others)
            move_bytes(&next[OTHERS], &at, parts.others);
    }
}

size_t split_records(const struct quipu_trace_chunk *chunk, const uint8_t *contents, size_t size,
                     uint8_t *out) {
    struct parts_table table;
    uint32_t sizes[STREAMS] = {0};
    uint8_t *next[STREAMS], *to = out + sizeof sizes;
    fill_table(&table);
    uint64_t prefix = (uint64_t)quipu_trace_counters_size(chunk) + chunk->start;
    sizes[PREFIX] = (uint32_t)(prefix < size ? prefix : size);
    const uint8_t *records = contents + sizes[PREFIX];
    size_t taken = measure_streams(&table, records, size - sizes[PREFIX], sizes);
    sizes[REST] = (uint32_t)(size - sizes[PREFIX] - taken);
    memcpy(out, sizes, sizeof sizes);
    for (int i = 0; i < STREAMS; i++) {
        next[i] = to;
        to += sizes[i];
    }
    memcpy(next[PREFIX], contents, sizes[PREFIX]);
    memcpy(next[REST], records + taken, sizes[REST]);
    take_apart(&table, next, records, sizes[HEADS]);
    return sizeof sizes + size;
}

/* ---- putting together ---- */

/* The streams while they are read. */
struct streams {
    const uint8_t *next[STREAMS], *end[STREAMS];
};

/* Copies SIZE bytes of a stream to *TO. Returns false if there are fewer. */
static bool move_from(struct streams *streams, enum stream stream, uint8_t **to, size_t size) {
    if ((size_t)(streams->end[stream] - streams->next[stream]) < size)
        return false;
    move_bytes(to, &streams->next[stream], size);
    return true;
}

static bool join_values(struct streams *streams, const struct parts *parts, uint8_t **to) {
    bool good = true;
    for (unsigned i = 0; i < parts->wide && good; i++)
        good = move_from(streams, WIDE_0, to, 1) && move_from(streams, WIDE_1, to, 1) &&
               move_from(streams, WIDE_2, to, 2) && move_from(streams, WIDE_4, to, 4);
    for (unsigned i = 0; i < parts->narrow && good; i++)
        good = move_from(streams, NARROW_0, to, 1) && move_from(streams, NARROW_1, to, 1) &&
               move_from(streams, NARROW_2, to, 2);
    return good;
}

/* Puts a record with the first byte FIRST to *TO. All streams together fit there. */
static bool join_record(const struct parts_table *table, struct streams *streams, uint8_t first,
                        uint8_t **to) {
    struct parts parts = table->of[first];
    if (!parts.known)
        return false;
    *(*to)++ = first;
    const uint8_t *head = *to;
    if (!move_from(streams, STACKS, to, parts.stacks * (size_t)STACK_BYTES) ||
        !move_from(streams, CODES, to, parts.codes * (size_t)CODE_BYTES))
        return false;
    if (!move_from(streams, LONGS, to, parts.longs) ||
        !move_from(streams, OTHERS, to, parts.others))
        return false;
    uint32_t others = parts.others;
    if (first >= QUIPU_TRACE_LONG)
        add_values(&parts, first, head);
    return move_from(streams, OTHERS, to, parts.others - others) &&
           join_values(streams, &parts, to);
}

bool join_records(const uint8_t *split, size_t size, uint8_t *out, size_t *joined) {
    struct parts_table table;
    uint32_t sizes[STREAMS];
    struct streams streams;
    if (size < sizeof sizes || size > SPLIT_MAX)
        return false;
    memcpy(sizes, split, sizeof sizes);
    const uint8_t *at = split + sizeof sizes, *end = split + size;
    for (int i = 0; i < STREAMS; i++) {
        if (sizes[i] > (size_t)(end - at))
            return false;
        streams.next[i] = at;
        at += sizes[i];
        streams.end[i] = at;
    }
    if (at != end)
        return false;
    fill_table(&table);
    uint8_t *to = out;
    move_from(&streams, PREFIX, &to, sizes[PREFIX]);
    for (uint32_t i = 0; i < sizes[HEADS]; i++)
        if (!join_record(&table, &streams, *streams.next[HEADS]++, &to))
            return false;
    move_from(&streams, REST, &to, sizes[REST]);
    *joined = (size_t)(to - out);
    return *joined == size - sizeof sizes;
}
