/* sites.c: the table of checks that are left out until they are needed; see sites.h. */
#include "symbols/sites.h"

#include "format/watch.h"

#include <string.h>

static uint64_t linked(uint64_t row, size_t member, int32_t distance) {
    return distance ? row + member + (uint64_t)(int64_t)distance : 0;
}

struct site_table find_sites(const struct binary *binary) {
    size_t size = 0;
    const uint8_t *rows = binary_section(binary, QUIPU_SITES_SECTION, &size);
    return (struct site_table){.rows = rows,
                               .count = rows ? size / sizeof(struct quipu_site) : 0,
                               .address = binary_section_address(binary, QUIPU_SITES_SECTION)};
}

struct linked_site read_site(const struct site_table *table, size_t index) {
    struct quipu_site told;
    uint64_t row = table->address + index * sizeof told;
    memcpy(&told, table->rows + index * sizeof told, sizeof told);
    return (struct linked_site){
        .place = linked(row, offsetof(struct quipu_site, place), told.place),
        .code = linked(row, offsetof(struct quipu_site, code), told.code),
        .target = linked(row, offsetof(struct quipu_site, target), told.target),
        .size = told.size};
}

bool is_trace_site(const struct linked_site *site) {
    return site->size == QUIPU_SITE_TRACE || site->size == QUIPU_SITE_TRACE_JUMP ||
           site->size == QUIPU_SITE_TRACE_LOOP;
}

/* Whether BINARY has a row of traces, or one of watched memory. */
static bool has_sites(const struct binary *binary, bool of_traces) {
    struct site_table table = find_sites(binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        if (site.size != QUIPU_SITE_TRACE_COPY && is_trace_site(&site) == of_traces)
            return true;
    }
    return false;
}

bool has_watch_sites(const struct binary *binary) {
    return has_sites(binary, false);
}

bool has_trace_sites(const struct binary *binary) {
    return has_sites(binary, true);
}
