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
