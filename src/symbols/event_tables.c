/* event_tables.c: event counts at an instruction; see event_tables.h.
 *
 * The runtime reads the same tables in memory (runtime/event/event.c). Here they come from the
 * file, so nothing in them is trusted. */
#include "symbols/event_tables.h"

#include "format/event.h"
#include "format/event_lookup.h"

#include <string.h>

static const char corrupt[] = "its tables of events are corrupt; build it again";

/* Adds the potentials at DISTANCE from the start of the code. TABLE is the address of its table, as
 * linked. Returns NULL or an error message. */
static const char *add_from_table(const struct binary *binary, uint64_t table, uint32_t distance,
                                  uint64_t rcx, int64_t sums[QUIPU_EVENTS]) {
    const struct segment *segment = binary_segment(binary, table);
    if (!segment)
        return corrupt;
    const uint8_t *begin = binary->bytes + segment->offset;
    for (uint32_t kind = 0; kind < QUIPU_EVENTS; kind++) {
        struct quipu_table open;
        if (quipu_open_table(&open, begin + (table - segment->address), begin,
                             begin + segment->size, kind))
            sums[kind] += quipu_sum_at(&open, distance, rcx);
        if (open.bytes.bad)
            return corrupt;
    }
    return NULL;
}

/* An iteration over the ranges of a binary. */
struct range_walk {
    const uint8_t *ranges;
    size_t size, at; /* bytes */
    uint64_t place;  /* address of the section, as linked */
    /* the present range: addresses as linked */
    uint64_t start, table;
    uint32_t length;
};

/* Begins an iteration, before the first range. */
static struct range_walk walk_ranges(const struct binary *binary) {
    struct range_walk walk = {.place = binary_section_address(binary, QUIPU_RANGES_SECTION)};
    walk.ranges = binary_section(binary, QUIPU_RANGES_SECTION, &walk.size);
    return walk;
}

static bool next_range(struct range_walk *walk) {
    struct quipu_range range;
    if (!walk->ranges || walk->size - walk->at < sizeof range)
        return false;
    memcpy(&range, walk->ranges + walk->at, sizeof range);
    uint64_t here = walk->place + walk->at;
    walk->start = here + (uint64_t)(int64_t)range.start;
    walk->table = here + offsetof(struct quipu_range, table) + (uint64_t)(int64_t)range.table;
    walk->length = range.size;
    walk->at += sizeof range;
    return true;
}

/* Advances to the range that contains ADDRESS. Returns whether there is one. */
static bool find_range(struct range_walk *walk, uint64_t address) {
    while (next_range(walk))
        if (address - walk->start < walk->length)
            return true;
    return false;
}

bool has_events_at(const struct binary *binary, uint64_t address) {
    struct range_walk walk = walk_ranges(binary);
    return find_range(&walk, address);
}

void each_instrumented(const struct binary *binary,
                       void (*take)(void *context, uint64_t start, uint64_t length),
                       void *context) {
    struct range_walk walk = walk_ranges(binary);
    while (next_range(&walk))
        take(context, walk.start, walk.length);
}

const char *add_events_above(const struct binary *binary, uint64_t address, uint64_t rcx,
                             int64_t sums[QUIPU_EVENTS]) {
    struct range_walk walk = walk_ranges(binary);
    if (!walk.ranges)
        return walk.size ? corrupt : NULL;
    if (!find_range(&walk, address))
        return NULL;
    return add_from_table(binary, walk.table, (uint32_t)(address - walk.start), rcx, sums);
}

/* Ticks happen on edges, so no instruction between two anchors has any. */
static uint64_t most_in_table(struct quipu_table *table) {
    uint64_t most = 0;
    for (uint32_t a = 0; a < table->anchors && !table->bytes.bad; a++) {
        quipu_take_long(&table->bytes);
        for (uint32_t k = 0; k < table->width; k++) {
            int64_t value = quipu_take_signed(&table->bytes);
            uint64_t size = (uint64_t)(value < 0 ? -value : value);
            if (k == table->column && size > most)
                most = size;
        }
        int64_t none = 0;
        uint32_t count = quipu_take_count(table, 0, &none);
        for (uint32_t i = 0; i < count && !table->bytes.bad; i++)
            if (quipu_take_byte(&table->bytes) >> 4 == QUIPU_QUERY_ESCAPE)
                quipu_take_number(&table->bytes);
    }
    return most;
}

uint64_t most_ticks_above(const struct binary *binary) {
    uint64_t most = 0;
    for (struct range_walk walk = walk_ranges(binary); next_range(&walk);) {
        struct quipu_table open;
        const struct segment *segment = binary_segment(binary, walk.table);
        if (!segment)
            continue;
        const uint8_t *begin = binary->bytes + segment->offset;
        uint64_t here = 0;
        if (quipu_open_table(&open, begin + (walk.table - segment->address), begin,
                             begin + segment->size, QUIPU_EVENT_TICKS))
            here = most_in_table(&open);
        most = here > most ? here : most;
    }
    return most;
}
