/* number_table.c: numbers by 64-bit keys; see number_table.h. */
#include "cache/number_table.h"

#include "util/diag.h"

#include <stdlib.h>

enum {
    CAPACITY_FIRST = 1024
};

/* Returns the entry of KEY, or the free one where it belongs. The multiplication spreads keys that
 * have the same distance, such as lines (Knuth, The Art of Computer Programming 3, 6.4). */
static struct number_entry *find_entry(const struct number_table *table, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 32) & (table->capacity - 1);
    while (table->entries[i].value && table->entries[i].key != key)
        i = (i + 1) & (table->capacity - 1);
    return &table->entries[i];
}

static void grow(struct number_table *table) {
    struct number_table old = *table;
    table->capacity = old.capacity ? 2 * old.capacity : CAPACITY_FIRST;
    table->entries = calloc(table->capacity, sizeof *table->entries);
    if (!table->entries)
        die("out of memory: no room for a table of %zu numbers", table->capacity);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entries[i].value)
            *find_entry(table, old.entries[i].key) = old.entries[i];
    free(old.entries);
}

uint32_t *number_table_at(struct number_table *table, uint64_t key) {
    if (2 * table->count >= table->capacity)
        grow(table);
    struct number_entry *entry = find_entry(table, key);
    if (!entry->value) {
        entry->key = key;
        table->count++;
    }
    return &entry->value;
}

void number_table_release(struct number_table *table) {
    free(table->entries);
    *table = (struct number_table){0};
}
