/* place_table.c: places by running addresses; see place_table.h.
 *
 * The module is the one whose code contains the address, according to the load bias in the data
 * file. */
#include "data/place_table.h"

#include "data/datafile.h"
#include "format/data_file.h"
#include "symbols/binary.h"

#include <string.h>

enum {
    CACHE_SETS = 4096 /* a power of two */
};

/* The last number that was requested for each address, by the address's hash. Most addresses of a
 * tree of calls occur in many of its nodes. */
struct recent_places {
    const struct process *process; /* of all entries */
    struct recent_place {
        uint64_t address; /* 0: free */
        uint32_t mark, number;
    } functions[CACHE_SETS], sites[CACHE_SETS];
};

void place_table_begin(struct place_table *table, struct arena *arena) {
    *table = (struct place_table){.arena = arena, .recent = ARENA_NEW(arena, struct recent_places)};
    vector_push(arena, &table->places, ((struct place){.module = NULL}));
}

uint32_t place_table_add(struct place_table *table, struct place place) {
    if (!place.module)
        return 0;
    uint32_t fresh = (uint32_t)table->places.count;
    uint32_t number = *map_add_copy(table->arena, &table->numbers, &place, sizeof place, fresh);
    if (number == fresh)
        vector_push(table->arena, &table->places, place);
    return number;
}

/* Returns module NUMBER of the running PROCESS if its code, loaded with LOAD_BIAS, contains
 * ADDRESS; or NULL. */
static struct module *module_with(const struct process *process, size_t number, uint64_t load_bias,
                                  uint64_t address) {
    struct module *module = process->modules.data[number];
    const struct segment *segment =
        module->binary ? binary_segment(module->binary, address - load_bias) : NULL;
    return segment && segment->executable ? module : NULL;
}

/* Returns the place of the code at ADDRESS in the running PROCESS. */
static struct place find_place(const struct process *process, uint32_t mark, uint64_t address) {
    struct module *module = NULL;
    uint64_t bias = 0;
    size_t number = QUIPU_LOAD_MARK_MODULE(mark), load = QUIPU_LOAD_MARK_NUMBER(mark);
    if (mark && number < process->modules.count) {
        const struct data_module *data = &process->data->modules.data[number];
        bias = load < data->load_biases.count ? data->load_biases.data[load] : data->load_bias;
        module = module_with(process, number, bias, address);
    }
    for (size_t i = 0; i < process->modules.count && !module; i++) {
        bias = process->load_biases[i];
        module = module_with(process, i, bias, address);
    }
    return (struct place){.module = module, .address = address - bias};
}

static uint32_t find_function(struct place_table *table, const struct process *process,
                              uint32_t mark, uint64_t address) {
    return place_table_add(table, find_place(process, mark, address));
}

static uint32_t find_site(struct place_table *table, const struct process *process, uint32_t mark,
                          uint64_t address) {
    if (!address)
        return 0;
    struct place place = find_place(process, mark, address - 1); /* in the call */
    place.address++;
    place.is_site = 1;
    return place_table_add(table, place);
}

/* ---- recent addresses ---- */

typedef uint32_t find_number(struct place_table *table, const struct process *process,
                             uint32_t mark, uint64_t address);

/* Returns what FIND does, which is called only if SETS do not have it. */
static uint32_t find_recent(struct place_table *table, const struct process *process, uint32_t mark,
                            uint64_t address, struct recent_place *sets, find_number *find) {
    struct recent_place *recent =
        &sets[(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % CACHE_SETS];
    if (table->recent->process != process)
        memset(table->recent, 0, sizeof *table->recent);
    table->recent->process = process;
    if (!address || recent->address != address || recent->mark != mark)
        *recent = (struct recent_place){address, mark, find(table, process, mark, address)};
    return recent->number;
}

uint32_t place_table_function(struct place_table *table, const struct process *process,
                              uint32_t mark, uint64_t address) {
    return find_recent(table, process, mark, address, table->recent->functions, find_function);
}

uint32_t place_table_site(struct place_table *table, const struct process *process, uint32_t mark,
                          uint64_t address) {
    return find_recent(table, process, mark, address, table->recent->sites, find_site);
}
