/* queries.c: event counts at an instruction; see queries.h.
 *
 * The runtime reads the same tables in memory (runtime/event.c); here they come from the file, and
 * nothing in them is trusted. */
#include "data/queries.h"

#include "data/query.h"

#include <string.h>

static const char corrupt[] = "its tables of events are corrupt; build it again";

/* Adds what the table at TABLE, an address as linked, tells of DISTANCE from its code's start. */
static const char *add_from_table(const struct binary *binary, uint64_t table, uint32_t distance,
                                  int64_t sums[QUIPU_EVENTS]) {
    const struct segment *segment = binary_segment(binary, table);
    if (!segment)
        return corrupt;
    const uint8_t *begin = binary->bytes + segment->offset;
    for (uint32_t kind = 0; kind < QUIPU_EVENTS; kind++) {
        struct quipu_table open;
        if (quipu_open_table(&open, begin + (table - segment->address), begin,
                             begin + segment->size, kind))
            sums[kind] += quipu_sum_at(&open, distance);
        if (open.bytes.bad)
            return corrupt;
    }
    return NULL;
}

/* Finds the range that ADDRESS is in.  Sets START and TABLE, addresses as linked.  Returns whether
 * there is one; WRONG is set where there can be none. */
static bool find_range(const struct binary *binary, uint64_t address, uint64_t *start,
                       uint64_t *table, const char **wrong) {
    size_t size;
    const uint8_t *ranges = binary_section(binary, QUIPU_RANGES_SECTION, &size);
    uint64_t place = binary_section_address(binary, QUIPU_RANGES_SECTION);
    *wrong = !ranges && size ? corrupt : NULL;
    for (size_t at = 0; ranges && size - at >= sizeof(struct quipu_range);
         at += sizeof(struct quipu_range)) {
        struct quipu_range range;
        memcpy(&range, ranges + at, sizeof range);
        *start = place + at + (uint64_t)(int64_t)range.start;
        *table = place + at + offsetof(struct quipu_range, table) + (uint64_t)(int64_t)range.table;
        if (address - *start < range.size)
            return true;
    }
    return false;
}

bool has_events_at(const struct binary *binary, uint64_t address) {
    uint64_t start, table;
    const char *wrong;
    return find_range(binary, address, &start, &table, &wrong);
}

const char *add_events_above(const struct binary *binary, uint64_t address,
                             int64_t sums[QUIPU_EVENTS]) {
    uint64_t start, table;
    const char *wrong;
    if (!find_range(binary, address, &start, &table, &wrong))
        return wrong;
    return add_from_table(binary, table, (uint32_t)(address - start), sums);
}

/* Ticks are of edges, so no instruction between two anchors has any. */
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
        uint32_t count = quipu_take_number(&table->bytes);
        for (uint32_t i = 0; i < count && !table->bytes.bad; i++)
            if (quipu_take_byte(&table->bytes) >> 4 == QUIPU_QUERY_ESCAPE)
                quipu_take_number(&table->bytes);
    }
    return most;
}

uint64_t most_ticks_above(const struct binary *binary) {
    size_t size;
    uint64_t most = 0;
    const uint8_t *ranges = binary_section(binary, QUIPU_RANGES_SECTION, &size);
    uint64_t place = binary_section_address(binary, QUIPU_RANGES_SECTION);
    for (size_t at = 0; ranges && size - at >= sizeof(struct quipu_range);
         at += sizeof(struct quipu_range)) {
        struct quipu_range range;
        struct quipu_table open;
        memcpy(&range, ranges + at, sizeof range);
        uint64_t table = place + at + offsetof(struct quipu_range, table);
        table += (uint64_t)(int64_t)range.table;
        const struct segment *segment = binary_segment(binary, table);
        if (!segment)
            continue;
        const uint8_t *begin = binary->bytes + segment->offset;
        uint64_t here = 0;
        if (quipu_open_table(&open, begin + (table - segment->address), begin,
                             begin + segment->size, QUIPU_EVENT_TICKS))
            here = most_in_table(&open);
        most = here > most ? here : most;
    }
    return most;
}
