/* number_table.h: a hash table from 64-bit keys to numbers, with open addressing.
 *
 * util/map.h has texts as keys. This one is for addresses and pointers, with a look-up for each
 * reference of a trace. */
#ifndef QUIPU_CACHE_NUMBER_TABLE_H
#define QUIPU_CACHE_NUMBER_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct number_entry {
    uint64_t key;
    uint32_t value; /* 0: the entry is free */
};

/* A table of zeros is empty. Invariant: capacity is a power of two or 0, and count is at most half
 * of it. */
struct number_table {
    struct number_entry *entries; /* owned */
    size_t count;
    size_t capacity;
};

/* Returns the address of KEY's value, which is valid until the next call. If the table does not
 * have KEY, adds it with the value 0; then the caller sets another value before the next call. */
uint32_t *number_table_at(struct number_table *table, uint64_t key);

void number_table_release(struct number_table *table);

#endif
