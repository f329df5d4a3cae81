/* sites.h: the table of checks that are left out, of an instrumented binary (format/watch.h). */
#ifndef QUIPU_SYMBOLS_SITES_H
#define QUIPU_SYMBOLS_SITES_H

#include "symbols/binary.h"

#include <stddef.h>
#include <stdint.h>

/* A row of QUIPU_SITES_SECTION, with addresses as linked; 0: it has none. */
struct linked_site {
    uint64_t place, code, target;
    uint32_t size;
};

/* The table, in the binary's memory. */
struct site_table {
    const uint8_t *rows;
    size_t count;
    uint64_t address; /* of the first row, as linked */
};

/* A binary without one has a table of no rows. */
struct site_table find_sites(const struct binary *binary);

/* Row INDEX, which is below the table's count. */
struct linked_site read_site(const struct site_table *table, size_t index);

#endif
