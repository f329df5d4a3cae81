/* sites.h: the table of code that is left out until it is needed (format/watch.h). */
#ifndef QUIPU_SYMBOLS_SITES_H
#define QUIPU_SYMBOLS_SITES_H

#include "symbols/binary.h"

#include <stddef.h>
#include <stdint.h>

/* A row of QUIPU_SITES_SECTION, with addresses as linked; 0: the row has no such address. */
struct linked_site {
    uint64_t place, code, target;
    uint32_t size;
};

/* The table. Its rows are in the memory of the binary. */
struct site_table {
    const uint8_t *rows;
    size_t count;
    uint64_t address; /* of the first row, as linked */
};

/* Returns a table without rows if BINARY has none. */
struct site_table find_sites(const struct binary *binary);

/* Whether the row is of traces, and not of watched memory. */
bool is_trace_site(const struct linked_site *site);

/* Whether BINARY has rows of watched memory, and rows of traces: these are of records that are left
 * out until a trace is recorded. */
bool has_watch_sites(const struct binary *binary);
bool has_trace_sites(const struct binary *binary);

/* Returns row INDEX, which must be less than the table's count. */
struct linked_site read_site(const struct site_table *table, size_t index);

#endif
