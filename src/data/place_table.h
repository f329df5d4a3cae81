/* place_table.h: places in code that are requested by running addresses, each with a number.
 *
 * Only the modules' segments are read, so several threads may fill tables of their own at the same
 * time. places.h tells what is at a place. */
#ifndef QUIPU_DATA_PLACE_TABLE_H
#define QUIPU_DATA_PLACE_TABLE_H

#include "data/profile.h"

/* The key of the map; all its bytes count. */
struct place {
    struct module *module; /* NULL: this is number 0, unknown */
    uint64_t address;      /* as linked: of a function's entry, or behind the call of a site */
    uint64_t is_site;      /* 0, 1 */
};

/* Invariants: places differ, and are in the order of their first requests. */
struct place_table {
    struct arena *arena;         /* not owned; has all data */
    VECTOR(struct place) places; /* [0] is unknown */
    struct map numbers;
    struct recent_places *recent; /* numbers of addresses that were requested last */
};

void place_table_begin(struct place_table *table, struct arena *arena);

/* Returns the number of PLACE. If the table does not have it, adds it. */
uint32_t place_table_add(struct place_table *table, struct place place);

/* Return the number of the function whose entry is at ADDRESS in the running PROCESS, or of the
 * site whose call ends at ADDRESS; or 0 if no module contains it. MARK is that of the module's load
 * (QUIPU_LOAD_MARK), or 0: not known. */
uint32_t place_table_function(struct place_table *table, const struct process *process,
                              uint32_t mark, uint64_t address);
uint32_t place_table_site(struct place_table *table, const struct process *process, uint32_t mark,
                          uint64_t address);

#endif
